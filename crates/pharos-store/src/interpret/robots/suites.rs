//! Cases of the public robots.txt test suites: Google's parser, Protego and Reppy, rewritten.
//!
//! Omitted, because they are specific to one parser and not in the RFC: `index.html` for its directory, lines limited
//! to 16 KB, `Request-rate`, and URLs compared without percent-encoding. Google's parser accepts `disallow /x` as a
//! rule and Reppy does not; this parser accepts it, because the author's intention is clear.

use pharos_core::PageUrl;

use super::RobotsRules;

/// A file, and for some agents the paths it allows and the paths it forbids, separated by spaces.
type Case<'a> = (&'a str, &'a [(&'a str, &'a str, &'a str)]);

fn check(cases: &[Case<'_>]) {
    for (file, questions) in cases {
        for (agent, allowed, forbidden) in *questions {
            let robots = RobotsRules::parse(file.as_bytes(), agent);
            for (paths, expected) in [(allowed, true), (forbidden, false)] {
                for path in paths.split(' ').filter(|path| !path.is_empty()) {
                    let url = PageUrl::parse(&format!("http://foo.bar{path}")).unwrap();
                    assert_eq!(robots.allows(&url), expected, "{agent} {path} in\n{file}");
                }
            }
        }
    }
}

#[test]
fn lines_and_names() {
    check(&[
        ("", &[("FooBot", "/ /x", ""), ("", "/", "")]),
        ("user-agent: FooBot\ndisallow: /\n", &[("FooBot", "", "/x/y"), ("", "/x", ""), ("Bar", "/", "")]),
        ("foo: FooBot\nbar: /\n", &[("FooBot", "/x/y", "")]),
        ("user-agent FooBot\ndisallow /\n", &[("FooBot", "", "/x/y")]),
        ("user-agent: FooBot\ndisallow / or so\n", &[("FooBot", "/x/y", "")]),
        ("USER-AGENT: FooBot\nALLOW: /x/\nDISALLOW: /\n", &[("FooBot", "/x/y", "/a/b")]),
        ("uSeR-aGeNt: FooBot\nAlLoW: /x/\ndIsAlLoW: /\n", &[("fOObOT", "/x/y", "/a/b")]),
        (
            "User-Agent: FoO bAr\nAllow: /x/\nDisallow: /\n",
            &[("Foo", "/x/y", "/a/b"), ("foo", "/x/y", "/a/b")],
        ),
        (
            "User-Agent: *\nDisallow: /\nUser-Agent: Foo Bar\nAllow: /x/\nDisallow: /\n",
            &[("Foo", "/x/y", "/y"), ("Qux", "", "/x/y")],
        ),
        (
            "user agent: a\nuseragent: b\ndisallow: /x",
            &[("a", "/y", "/x"), ("b", "/y", "/x"), ("c", "/x", "")],
        ),
        ("user-agent: * # everybody\nallow: /\n", &[("a", "/x", "")]),
        ("user-agent: *\ndisallow: /caf\u{e9}", &[("a", "/cafe", "/caf%C3%A9")]),
        (
            "User-agent: *\nDisallow: /one \nDissallow: /two \nDissalow: /three\nDisalow: /four\nDiasllow: /five\n\
             Disallaw: /six",
            &[("a", "/seven", "/one /two /three /four /five /six")],
        ),
        (
            "User-Agent: foo\r\nAllow: /some/path\r\nUser-Agent: bar\r\n\r\n\r\nDisallow: /\r\n",
            &[("foo", "/a", ""), ("bar", "", "/a")],
        ),
        (
            "User-Agent: foo\rAllow: /some/path\rUser-Agent: bar\r\r\rDisallow: /",
            &[("foo", "/a", ""), ("bar", "", "/a")],
        ),
        (
            "User-Agent: foo\nAllow: /some/path\r\nUser-Agent: bar\n\r\n\nDisallow: /",
            &[("foo", "/a", ""), ("bar", "", "/a")],
        ),
    ]);
}

#[test]
fn a_byte_order_mark_is_no_part_of_the_first_line() {
    let lines = b"User-Agent: foo\nDisallow: /x\n";
    let forbids =
        |file: &[u8]| !RobotsRules::parse(file, "foo").allows(&PageUrl::parse("http://foo.bar/x").unwrap());
    for mark in [b"".as_slice(), b"\xef", b"\xef\xbb", b"\xef\xbb\xbf"] {
        assert!(forbids(&[mark, lines].concat()), "{mark:?}");
    }
    assert!(!forbids(&[b"\xef\x11\xbf".as_slice(), lines].concat()), "not a byte order mark");
    assert!(forbids(b"User-Agent: foo\n\xef\xbb\xbfAllow: /x\nDisallow: /x"), "nor anywhere else");
}

#[test]
fn groups() {
    check(&[
        (
            "allow: /foo/bar/\n\nuser-agent: FooBot\ndisallow: /\nallow: /x/\nuser-agent: BarBot\ndisallow: /\n\
             allow: /y/\n\n\nallow: /w/\nuser-agent: BazBot\n\nuser-agent: FooBot\nallow: /z/\ndisallow: /\n",
            &[
                ("FooBot", "/x/b /z/d", "/y/c /foo/bar/"),
                ("BarBot", "/y/c /w/a", "/z/d /foo/bar/"),
                ("BazBot", "/z/d", "/foo/bar/"),
            ],
        ),
        (
            "user-agent: *\nallow: /\nuser-agent: FooBot\ndisallow: /\n",
            &[("FooBot", "", "/x/y"), ("BarBot", "/x/y", "")],
        ),
        (
            "user-agent: FooBot\nallow: /\nuser-agent: BarBot\ndisallow: /\nuser-agent: BazBot\ndisallow: /\n",
            &[("QuxBot", "/x/y", ""), ("BazBot", "", "/x/y")],
        ),
        (
            "User-agent: *\nDisallow: /x/\nUser-agent: FooBot\nDisallow: /y/\n",
            &[("FooBot", "/x/page", "/y/page")],
        ),
        (
            "User-agent: *\nDisallow: /tmp\n\nUser-agent: other-agent\nAllow: /tmp\n",
            &[("agent", "/path", "/tmp"), ("other-agent", "/tmp /path", "")],
        ),
        ("User-agent: one\nUser-agent: two\nDisallow: /tmp\n", &[("one", "/", "/tmp"), ("two", "/", "/tmp")]),
        // The draft of 1997.
        (
            "# /robots.txt for http://www.fict.org/\n\nUser-agent: unhipbot\nDisallow: /\n\nUser-agent: webcrawler\n\
             User-agent: excite\nDisallow:\n\nUser-agent: *\nDisallow: /org/plans.html\nAllow: /org/\nAllow: /serv\n\
             Allow: /~mak\nDisallow: /\n",
            &[
                (
                    "unhipbot",
                    "/robots.txt",
                    "/ /index.html /server.html /orgo.gif /org/about.html /%7Ejim/jim.html",
                ),
                ("webcrawler", "/ /index.html /robots.txt /server.html /org/plans.html /%7Emak/mak.html", ""),
                ("excite", "/ /services/slow.html /orgo.gif /%7Ejim/jim.html", ""),
                (
                    "anything",
                    "/robots.txt /server.html /services/fast.html /services/slow.html /org/about.html /%7Emak/mak.html",
                    "/ /index.html /orgo.gif /org/plans.html /%7Ejim/jim.html",
                ),
            ],
        ),
    ]);
    // Unknown lines end no group (RFC 9309 §2.2.4), although they do in Reppy.
    check(&[(
        "User-agent: *\nNoindex: /gb.html\nUser-agent: ia_archiver\nDisallow: /\n",
        &[("agent", "", "/foo")],
    )]);
}

#[test]
fn the_longest_match() {
    let on = |rules: &str, allowed: &str, forbidden: &str| {
        check(&[(&format!("user-agent: FooBot\n{rules}\n"), &[("FooBot", allowed, forbidden)])]);
    };
    on("disallow: /x/page.html\nallow: /x/", "/x/", "/x/page.html");
    on("allow: /x/page.html\ndisallow: /x/", "/x/page.html", "/x/");
    on("disallow: \nallow: ", "/x/page.html", "");
    on("disallow: /\nallow: /", "/x/page.html", "");
    on("disallow: /x\nallow: /x/", "/x/", "/x");
    on("disallow: /x/page.html\nallow: /x/page.html", "/x/page.html", "");
    on("allow: /page\ndisallow: /*.html", "/page", "/page.html");
    on("allow: /x/page.\ndisallow: /*.html", "/x/page.html", "/x/y.html");
    on("allow: /p\ndisallow: /", "/page", "/x");
    on("allow: /folder\ndisallow: /folder", "/folder/page", "");
    on("disallow: /folder\nallow: /folder", "/folder/page", "");
    on("allow: /page\ndisallow: /*.htm", "", "/page.htm");
    on("allow: /$\ndisallow: /", "/", "/page.html");
    on("disallow: /$\nallow: /", "/page.html", "/");
    on("disallow: /x/", "", "/x/y");
    on("disallow: /X/", "/x/y", "");
    on("disallow: /d \ncrawl-delay: 10", "/abc/d", "/disallowed");
}

#[test]
fn wildcards() {
    let on = |rules: &str, allowed: &str, forbidden: &str| {
        check(&[(&format!("user-agent: FooBot\n{rules}\n"), &[("FooBot", allowed, forbidden)])]);
    };
    on("disallow: /foo/bar/quz\nallow: /foo/*/qux", "/foo/quz /foo//quz /foo/bax/quz", "/foo/bar/quz");
    on("disallow: /foo/bar$\nallow: /foo/bar/qux", "/foo/bar/qux /foo/bar/ /foo/bar/baz", "/foo/bar");
    on("# disallow: /\ndisallow: /foo/quz#qux\nallow: /", "/foo/bar", "/foo/quz");
    on(
        "disallow: /\nallow: /fish",
        "/fish /fish.html /fish/salmon.html /fishheads /fishheads/yummy.html /fish.html?id=anything",
        "/bar /Fish.asp /catfish /?id=fish",
    );
    on(
        "disallow: /\nallow: /fish*",
        "/fish /fish.html /fish/salmon.html /fishheads/yummy.html /fish.html?id=anything",
        "/bar /Fish.bar /catfish /?id=fish",
    );
    on(
        "disallow: /\nallow: /fish/",
        "/fish/ /fish/salmon /fish/?salmon /fish/salmon.html /fish/?id=anything",
        "/bar /fish /fish.html /Fish/Salmon.html",
    );
    on(
        "disallow: /\nallow: /*.php",
        "/filename.php /folder/filename.php /folder/filename.php?parameters //folder/any.php.file.html \
         /filename.php/ /index?f=filename.php/",
        "/bar /php/ /index?php /windows.PHP",
    );
    on(
        "disallow: /\nallow: /*.php$",
        "/filename.php /folder/filename.php",
        "/bar /filename.php?parameters /filename.php/ /filename.php5 /php/ /filename?php /aaaphpaaa //windows.PHP",
    );
    on("disallow: /\nallow: /fish*.php", "/fish.php /fishheads/catfish.php?parameters", "/bar /Fish.PHP");
    on(
        "disallow: /disallowed/*/end$\ndisallow: /protego*work",
        "/disallowed /disallowed/xyz/endinglater /rotego_does_work /protego_does_wor",
        "/disallowed/xyz/end /protegoworks /protego_works /protego/works /protego_does_work",
    );
    on("allow: /*allowed\ndisallow: /", "/allowed /is_still_allowed /is_allowed_too", "/x");
    on("disallow: /foo*", "/fo.html", "/foo.html /food /foo/bar.html");
    on(
        "disallow: /foo*/bar.html",
        "/fo.html /food/xyz.html",
        "/foo/bar.html /food/bar.html /foo/a/b/c/x/y/z/bar.html",
    );
    on("disallow: *m", "/foo /foo/bar.txt", "/foo.htm /foom /moo /foo/bar.html");
    on("allow: /foo/bar.html\ndisallow: *", "/foo/bar.html", "/fo.html /foo /foo/bar.txt");
    on(
        "disallow: /foo*/*bar.html",
        "/food/rebarf.html",
        "/foo/bar.html /food/rebar.html /foo/a/b/c/rebar.html",
    );
    on("allow: /foo$\ndisallow: /foo", "/foo", "/food");
    on("allow: *****************/****.js\ndisallow: /", "/x.js /a/b.js", "/x.css");
}

#[test]
fn escapes() {
    let on = |rules: &str, allowed: &str, forbidden: &str| {
        check(&[(&format!("user-agent: FooBot\n{rules}\n"), &[("FooBot", allowed, forbidden)])]);
    };
    let query = "/foo/bar?qux=taz&baz=http://foo.bar?tar&par";
    on(&format!("disallow: /\nallow: {query}"), query, "/foo/bar?qux=taz");
    on("disallow: /\nallow: /foo/bar/ツ", "/foo/bar/%E3%83%84 /foo/bar/ツ", "/foo/bar/%E3");
    on("disallow: /\nallow: /foo/bar/%E3%83%84", "/foo/bar/%e3%83%84 /foo/bar/ツ", "/foo/bar/");
    on("disallow: /\nallow: /foo/bar/%62%61%7A", "/foo/bar/baz /foo/bar/%62%61%7A", "/foo/bar/x");
    for rule in ["/a%3cd.html", "/a%3Cd.html", "/a<d.html", "/a%3c*", "/a<*"] {
        on(&format!("disallow: /\nallow: {rule}"), "/a<d.html /a%3cd.html", "/b");
    }
    on("disallow: /path;params?query", "/path;params", "/path;params?query#fragment");
    on("disallow: /?", "/", "/?query");
    on("disallow: /;", "/", "/;params");
    on("disallow: /a%2Fb", "/a/b", "/a%2fb");
}

#[test]
fn delays() {
    let delay = |file: &str, agent: &str| {
        RobotsRules::parse(file.as_bytes(), agent).crawl_delay().map(|delay| delay.as_secs())
    };
    let file = "User-agent: *\nDisallow: /d\nCrawl-delay: 10\nUser-agent: testbot\nCrawl-delay: 15 \n";
    assert_eq!((delay(file, "any"), delay(file, "testbot")), (Some(10), Some(15)));
    let file = "User-agent: one\nCrawl-delay: 1\n\nUser-agent: two\nUser-agent: three\nCrawl-delay: 2\n";
    assert_eq!((delay(file, "one"), delay(file, "two"), delay(file, "three")), (Some(1), Some(2), Some(2)));
    assert_eq!(delay("User-agent: *\nCrawl-delay: random_word", "a"), None);
    assert_eq!(delay("User-agent: *\nDisallow: /", "a"), None);
    assert_eq!(delay("Crawl-delay: 7", "a"), None, "before the first user agent it applies to no crawler");
}
