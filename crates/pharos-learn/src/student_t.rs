//! Student's t distribution.

/// Returns the two-sided probability that |t| is at least this large if there is no difference.
pub(crate) fn two_sided(t: f64, degrees_of_freedom: f64) -> f64 {
    if t.is_infinite() {
        return 0.0;
    }
    incomplete_beta(degrees_of_freedom / (degrees_of_freedom + t * t), degrees_of_freedom / 2.0, 0.5)
}

/// Returns the regularised incomplete beta function I_x(a, b), by its continued fraction (Abramowitz & Stegun 26.5.8).
fn incomplete_beta(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    // The fraction converges fast on this side only; the other side follows by symmetry.
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - incomplete_beta(1.0 - x, b, a);
    }
    let front = (ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (1.0 - x).ln()).exp();
    (front * beta_fraction(x, a, b) / a).clamp(0.0, 1.0)
}

/// Returns the continued fraction of the incomplete beta function, by the method of Lentz (1976).
fn beta_fraction(x: f64, a: f64, b: f64) -> f64 {
    const MAX_STEPS: u32 = 10_000; // about √max(a, b) are needed
    let not_zero = |value: f64| if value.abs() < 1e-300 { 1e-300 } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / not_zero(1.0 - (a + b) * x / (a + 1.0));
    let mut value = d;
    for step in 1..=MAX_STEPS {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let before = value;
        for term in [even, odd] {
            d = 1.0 / not_zero(1.0 + term * d);
            c = not_zero(1.0 + term / c);
            value *= c * d;
        }
        if (value - before).abs() <= 1e-15 * value.abs() {
            break;
        }
    }
    value
}

/// Returns ln Γ(x) for x > 0, by the approximation of Lanczos (1964) with g = 7 and nine terms.
fn ln_gamma(x: f64) -> f64 {
    const G: f64 = 7.0;
    const TERMS: [f64; 9] = [
        0.999_999_999_999_809_9,
        676.520_368_121_885_1,
        -1_259.139_216_722_402_8,
        771.323_428_777_653_1,
        -176.615_029_162_140_6,
        12.507_343_278_686_905,
        -0.138_571_095_265_720_12,
        9.984_369_578_019_572e-6,
        1.505_632_735_149_311_6e-7,
    ];
    let x = x - 1.0;
    let sum = TERMS[1..].iter().zip(1..).fold(TERMS[0], |sum, (term, i)| sum + term / (x + f64::from(i)));
    let t = x + G + 0.5;
    0.5 * std::f64::consts::TAU.ln() + (x + 0.5) * t.ln() - t + sum.ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_of_the_textbooks() {
        let tables = [
            (12.706_205, 1.0, 0.05),
            (4.302_653, 2.0, 0.05),
            (2.228_139, 10.0, 0.05),
            (3.169_273, 10.0, 0.01),
            (1.812_461, 10.0, 0.10),
            (2.042_272, 30.0, 0.05),
            (1.979_930, 120.0, 0.05),
            (2.617_421, 120.0, 0.01),
            (1.959_966, 1e6, 0.05),
        ];
        for (t, degrees_of_freedom, p) in tables {
            assert!(
                (two_sided(t, degrees_of_freedom) - p).abs() < 1e-6,
                "t {t}, {degrees_of_freedom} degrees"
            );
            assert_eq!(two_sided(t, degrees_of_freedom), two_sided(-t, degrees_of_freedom));
        }
    }

    #[test]
    fn one_degree_of_freedom_is_an_arc_tangent() {
        for t in [0.1_f64, 0.5, 1.0, 3.0, 50.0] {
            let exact = 1.0 - 2.0 * t.atan() / std::f64::consts::PI;
            assert!((two_sided(t, 1.0) - exact).abs() < 1e-12);
        }
    }

    #[test]
    fn the_ends() {
        assert_eq!((two_sided(0.0, 5.0), two_sided(f64::INFINITY, 5.0)), (1.0, 0.0));
        assert!(two_sided(1e200, 5.0) < 1e-12);
        assert!((ln_gamma(0.5) - std::f64::consts::PI.sqrt().ln()).abs() < 1e-13);
        assert!((ln_gamma(11.0) - 3_628_800_f64.ln()).abs() < 1e-12);
    }
}
