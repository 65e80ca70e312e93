//! Pictures: small SVG scenes, generated from their name. Names that begin with `lighthouse`, `star`, `tea` or `city`
//! get that motif, all others a landscape.

use std::fmt::Write;

use crate::rng::{Rng, hash_text};

/// Returns an SVG picture, always the same for the same name.
pub(crate) fn draw(name: &str) -> String {
    let mut rng = Rng::from_parts(&[hash_text(name)]);
    let hue = rng.below(360);
    let night = name.starts_with("star") || (name.starts_with("lighthouse") && rng.chance(0.6));
    let (top, bottom) = if night { (14, 32) } else { (72, 92) };
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 480 270\" width=\"480\" height=\"270\">\
         <defs><linearGradient id=\"s\" x2=\"0\" y2=\"1\"><stop stop-color=\"hsl({hue},45%,{top}%)\"/>\
         <stop offset=\"1\" stop-color=\"hsl({},55%,{bottom}%)\"/></linearGradient></defs>\
         <rect width=\"480\" height=\"270\" fill=\"url(#s)\"/>",
        (hue + 40) % 360
    );
    // Writing to a string cannot fail.
    if night {
        for _ in 0..40 {
            let (x, y, size) = (rng.below(480), rng.below(180), rng.between(5, 16) as f64 / 10.0);
            let _ = write!(svg, "<circle cx=\"{x}\" cy=\"{y}\" r=\"{size}\" fill=\"#fff\"/>");
        }
    }
    let (x, y) = (rng.between(60, 420), rng.between(40, 90));
    let light = if night { "#f4f1d8" } else { "#ffd36b" };
    let _ = write!(svg, "<circle cx=\"{x}\" cy=\"{y}\" r=\"22\" fill=\"{light}\"/>");
    for layer in 0..3 {
        let base = 150 + layer * 30;
        let lightness = if night { 24 - layer * 6 } else { 62 - layer * 14 };
        let (one, two) = (rng.between(0, 60), rng.between(0, 60));
        let _ = write!(
            svg,
            "<path d=\"M0 {base} Q120 {} 240 {base} T480 {} V270 H0Z\" fill=\"hsl({},35%,{lightness}%)\"/>",
            base - one,
            base - two / 3,
            (hue + 140) % 360
        );
    }
    motif(name, &mut rng, &mut svg);
    svg.push_str("</svg>");
    svg
}

/// Returns an icon in the ICO format: a disc of 16 by 16 pixels, in a colour that depends on the name.
pub(crate) fn draw_icon(name: &str) -> Vec<u8> {
    const SIZE: usize = 16;
    const HEADER: usize = 40;
    // Four bytes per pixel, and a row of the mask in four bytes.
    const PIXELS: usize = SIZE * SIZE * 4;
    const MASK: usize = SIZE * 4;
    let mut rng = Rng::from_parts(&[hash_text(name)]);
    let colour = [rng.between(40, 220) as u8, rng.between(40, 220) as u8, rng.between(40, 220) as u8];
    let mut icon = Vec::with_capacity(22 + HEADER + PIXELS + MASK);
    // One picture, its size, 1 plane, 32 bits per pixel, and its place in the file.
    icon.extend([0, 0, 1, 0, 1, 0, SIZE as u8, SIZE as u8, 0, 0, 1, 0, 32, 0]);
    icon.extend(((HEADER + PIXELS + MASK) as u32).to_le_bytes());
    icon.extend(22u32.to_le_bytes());
    // Header of a bitmap; its height counts picture and mask.
    for field in [HEADER as u32, SIZE as u32, 2 * SIZE as u32, 1 | 32 << 16, 0, PIXELS as u32, 0, 0, 0, 0] {
        icon.extend(field.to_le_bytes());
    }
    for y in 0..SIZE {
        for x in 0..SIZE {
            // Twice the distance from the centre.
            let (dx, dy) = (2 * x as i64 - 15, 2 * y as i64 - 15);
            let alpha = if dx * dx + dy * dy <= 15 * 15 { 255 } else { 0 };
            icon.extend([colour[0], colour[1], colour[2], alpha]);
        }
    }
    icon.extend([0; MASK]);
    icon
}

fn motif(name: &str, rng: &mut Rng, svg: &mut String) {
    // Far enough from the left edge for the beam of the lighthouse.
    let x = rng.between(160, 330);
    if name.starts_with("lighthouse") {
        let _ = write!(
            svg,
            "<path d=\"M{} 100 L{} 60 V130Z\" fill=\"#fff3b0\" opacity=\".6\"/>\
             <path d=\"M{} 225 L{} 110 H{} L{} 225Z\" fill=\"#fff\"/>\
             <path d=\"M{} 160 H{} L{} 185 H{}Z\" fill=\"#c0392b\"/>\
             <rect x=\"{}\" y=\"92\" width=\"24\" height=\"18\" fill=\"#ffe680\"/>\
             <path d=\"M{} 92 L{x} 74 L{} 92Z\" fill=\"#333\"/>",
            x - 12,
            x - 150,
            x - 22,
            x - 14,
            x + 14,
            x + 22,
            x - 17,
            x + 17,
            x + 19,
            x - 19,
            x - 12,
            x - 16,
            x + 16
        );
    } else if name.starts_with("tea") {
        let _ = write!(
            svg,
            "<path d=\"M{} 160 H{} Q{} 230 {x} 230 Q{} 230 {} 160Z\" fill=\"#f5efe2\"/>\
             <ellipse cx=\"{x}\" cy=\"160\" rx=\"60\" ry=\"12\" fill=\"#9a6b2f\"/>\
             <path d=\"M{} 140 q10 -20 0 -40 M{} 140 q-10 -20 0 -40\" stroke=\"#fff\" stroke-width=\"4\" fill=\"none\"/>",
            x - 60,
            x + 60,
            x + 55,
            x - 55,
            x - 60,
            x - 15,
            x + 15
        );
    } else if name.starts_with("city") {
        for tower in 0..9 {
            let height = rng.between(30, 120);
            let left = 40 + tower * 46;
            let _ = write!(
                svg,
                "<rect x=\"{left}\" y=\"{}\" width=\"34\" height=\"{height}\" fill=\"#334\" opacity=\".85\"/>\
                 <rect x=\"{}\" y=\"{}\" width=\"6\" height=\"8\" fill=\"#ffe680\"/>",
                240 - height,
                left + 8,
                250 - height
            );
        }
    } else if name.starts_with("star") {
        let _ = write!(
            svg,
            "<path d=\"M{} 240 L{x} 170 L{} 240\" stroke=\"#111\" stroke-width=\"5\" fill=\"none\"/>\
             <rect x=\"{}\" y=\"150\" width=\"90\" height=\"18\" rx=\"6\" fill=\"#ddd\" transform=\"rotate(-28 {x} 165)\"/>",
            x - 25,
            x + 25,
            x - 45
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_always_gives_the_same_picture() {
        for number in 0..300 {
            for motif in ["lighthouse", "tea", "city", "star", "17"] {
                let name = format!("{motif}-{number}");
                assert_eq!(draw(&name), draw(&name));
                assert!(draw(&name).ends_with("</svg>"));
            }
        }
    }

    #[test]
    fn an_icon_is_as_long_as_it_declares() {
        let icon = draw_icon("a.test");
        let length = u32::from_le_bytes(icon[14..18].try_into().unwrap()) as usize;
        assert_eq!((&icon[..4], icon.len()), (&[0, 0, 1, 0][..], 22 + length));
        assert_ne!(icon, draw_icon("b.test"));
    }
}
