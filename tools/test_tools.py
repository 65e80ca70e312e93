"""Unit tests of the tools: `python3 -m unittest discover tools`."""

import shutil
import sys
import tempfile
import unittest
from pathlib import Path

import arrows
import demo
import dependencies
import fuzz_api
import golden
import packaged
import replacements
import steps
import valid_pages

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "packaging"))

import sbom  # noqa: E402: it is in packaging/


class Dependencies(unittest.TestCase):
    ALLOWED = ("Apache-2.0", "Apache-2.0 WITH LLVM-exception", "ISC", "MIT", "Unicode-3.0", "Zlib")

    def acceptable(self, expression):
        return dependencies.acceptable(expression, self.ALLOWED)

    def test_accepted_expressions(self):
        for expression in [
            "MIT", "mit", "Apache-2.0 OR MIT", "MIT/Apache-2.0", "MIT / Apache-2.0",
            "(MIT OR Apache-2.0) AND Unicode-3.0", "Apache-2.0 WITH LLVM-exception OR GPL-2.0",
            "MIT OR Apache-2.0 OR LGPL-2.1-or-later", "GPL-3.0-only OR ISC AND MIT", "((MIT))",
            "Apache-2.0 AND ISC", "Apache-2.0+", "Zlib OR Apache-2.0 OR MIT",
        ]:
            self.assertTrue(self.acceptable(expression), expression)

    def test_rejected_expressions(self):
        for expression in [
            "GPL-3.0-only", "AGPL-3.0-or-later", "LGPL-2.1", "MIT AND GPL-2.0", "GPL-2.0 AND (MIT OR ISC)",
            "MIT AND LGPL-3.0 OR AGPL-3.0", "(MIT OR ISC) AND (GPL-2.0 OR SSPL-1.0)", "GPL-2.0/LGPL-2.1",
            "Apache-2.0 WITH Unknown-exception", "GPL-2.0 WITH Classpath-exception-2.0", "Proprietary",
        ]:
            self.assertFalse(self.acceptable(expression), expression)

    def test_and_binds_closer_than_or(self):
        self.assertTrue(self.acceptable("MIT OR ISC AND GPL-2.0"))
        self.assertFalse(self.acceptable("(MIT OR ISC) AND GPL-2.0"))

    def test_broken_expressions_are_errors(self):
        for expression in ["", "MIT OR", "AND MIT", "(MIT", "MIT)", "MIT ISC", "MIT OR OR ISC", "()",
                           "MIT WITH", "MIT & ISC", "MIT WITH (LLVM-exception)"]:
            with self.assertRaises(dependencies.BadExpression, msg=expression):
                self.acceptable(expression)

    def test_licence_problems_say_what_to_do(self):
        def problem(name, expression):
            return dependencies.licence_problem(name, "1.0.0", expression, self.ALLOWED)
        self.assertIsNone(problem("good", "MIT"))
        self.assertIn("cargo tree -i bad", problem("bad", "GPL-3.0-only"))
        self.assertIn("declares no licence", problem("silent", None))
        self.assertIn("invalid licence expression", problem("odd", "MIT OR"))

    def test_banned_crates(self):
        bans = [{"crate": "openssl-sys", "reason": "rustls"}]
        self.assertEqual([], dependencies.banned([("openssl", "1.0.0")], bans))
        self.assertEqual(["openssl-sys 0.9.1 is banned: rustls"], dependencies.banned([("openssl-sys", "0.9.1")], bans))

    def test_duplicate_versions(self):
        packages = [("rand", "0.9.5"), ("rand", "0.10.1"), ("syn", "3.0.1")]
        self.assertEqual(1, len(dependencies.duplicates(packages, [])))
        self.assertEqual([], dependencies.duplicates(packages, ["rand@0.9"]))
        self.assertEqual([], dependencies.duplicates(packages, ["rand@0.9.5"]))
        for unneeded in ["syn@3", "rand@0.1", "gone@1"]:
            self.assertEqual(1, len(dependencies.duplicates(packages, ["rand@0.9", unneeded])), unneeded)

    def test_yanked_versions(self):
        entry = (b'\x03\x02\0\0\0etag\x000.1.0\0{"name":"a","vers":"0.1.0","yanked":true}\x00'
                 b'0.1.1\0{"name":"a","vers":"0.1.1","yanked":false}\0')
        self.assertEqual({"0.1.0"}, dependencies.yanked_versions(entry))
        with tempfile.TemporaryDirectory() as directory:
            cache = Path(directory)
            (cache / "1").mkdir()
            (cache / "1/a").write_bytes(entry)
            self.assertEqual(1, len(dependencies.yanked([("a", "0.1.0"), ("a", "0.1.1"), ("b", "0.1.0")], [cache])))

    def test_paths_of_the_index(self):
        for name, path in [("a", "1/a"), ("ab", "2/ab"), ("abc", "3/a/abc"), ("Serde", "se/rd/serde")]:
            self.assertEqual(path, dependencies.index_path(name))


class Steps(unittest.TestCase):
    @staticmethod
    def names(steps_of_a_run):
        return [step.name for step in steps_of_a_run]

    def test_names_and_needs_are_consistent(self):
        names = self.names(steps.STEPS)
        self.assertEqual(len(names), len(set(names)))
        for position, step in enumerate(steps.STEPS):
            self.assertLessEqual(set(step.needs), set(names[:position]), step.name)

    def test_selection(self):
        self.assertEqual(["golden"], self.names(steps.select(["golden"], False)))
        self.assertEqual(["setup", "build", "pages"], self.names(steps.select(["pages"], False)))
        self.assertEqual(["fuzz"], self.names(steps.select(["fuzz"], False)))
        usual, long = self.names(steps.select([], False)), self.names(steps.select([], True))
        self.assertEqual({"fuzz", "bench", "search"}, set(long) - set(usual))

    def test_lanes_run_side_by_side(self):
        waiting = steps.select(["golden", "tests", "docs", "pages"], False)
        self.assertEqual(["golden", "build"], self.names(steps.startable(waiting, [], set())))
        after = [step for step in waiting if step.name not in ("golden", "setup", "build")]
        done = {"golden", "setup", "build"}
        self.assertEqual(["tests", "docs"], self.names(steps.startable(after, [], done)))
        running = [step for step in after if step.name in ("tests", "docs")]
        self.assertEqual([], steps.startable([step for step in after if step not in running], running, done))

    def test_documentation_alone_does_not_wait(self):
        self.assertEqual(["docs"], self.names(steps.startable(steps.select(["docs"], False), [], set())))

    def test_summaries(self):
        output = ("test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.1s\n"
                  "test result: ok. 4 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.1s\n")
        self.assertEqual("7 tests passed, 1 ignored", steps.summary(output))
        self.assertEqual("golden: 3 examples", steps.summary("x\ngolden: 3 examples\n\n"))
        self.assertEqual("", steps.summary(""))


class Packaging(unittest.TestCase):
    HELPS = {"up": "  --listen <A>\n  --seeds-file <F>\n  --data <D>", "health": "Usage", "--help": "  --data <D>"}

    def bad(self, line):
        return packaged.bad_command(line.split(), lambda command: self.HELPS.get(command, ""))

    def test_variables(self):
        text = "PHAROS_WEB_LISTEN=1 PHAROS_DATA=x ${PHAROS_WEB_LISTENING} #PHAROS_CRAWL_CONTACT="
        self.assertEqual(["unknown variable PHAROS_CRAWL_CONTACT", "unknown variable PHAROS_WEB_LISTENING"],
                         packaged.unknown_variables(text, {"web.listen": ""}))

    def test_commands_and_flags(self):
        for line in ["pharos up", "pharos --data D up --seeds-file=F --listen A", "pharos --version", "pharos health"]:
            self.assertEqual([], self.bad(line), line)
        for line in ["pharos rise", "pharos --data D rise", "pharos up --listens A", "pharos up --seed=1", "pharos --up"]:
            self.assertEqual(1, len(self.bad(line)), line)

    def test_command_lines_of_a_manual(self):
        text = ("pharos health\n    sudo -u pharos pharos --data D add 'a b'  # why\nthe pharos user\n"
                "sudo -u pharos pharos up # why\npharos completions bash > x\n")
        self.assertEqual([["pharos", "health"], ["pharos", "up"]], packaged.command_lines(text))

    def test_units(self):
        def errors(text):
            return packaged.unit_problems(text, lambda command: self.HELPS.get(command, ""),
                                           {"/usr/bin/pharos", "/etc/pharos/seeds"})
        self.assertEqual([], errors("ExecStart=/usr/bin/pharos up --seeds-file /etc/pharos/seeds\n"))
        self.assertEqual(1, len(errors("ExecStart=/usr/local/bin/pharos up\n")))
        self.assertEqual(1, len(errors("EnvironmentFile=-/etc/pharos/env\n")))
        self.assertEqual(1, len(errors("ExecStart=/usr/bin/pharos up --seed x\n")))

    @unittest.skipUnless(shutil.which("systemd-analyze"), "systemd is not installed")
    def test_systemd_knows_every_directive(self):
        unit = "[Service]\nExecStart=/usr/bin/pharos up\n"
        self.assertEqual([], packaged.systemd_problems(unit))
        self.assertEqual(1, len(packaged.systemd_problems(unit + "ProtectSytem=strict\n")))

    def test_images(self):
        def errors(port, command):
            text = f'ENV A=b \\\n    PHAROS_WEB_LISTEN=0.0.0.0:8080\nEXPOSE {port}\nCMD {command}\n'
            return packaged.image_problems(text, "8080", lambda command: self.HELPS.get(command, ""))
        self.assertEqual([], errors(8080, '["up"]'))
        self.assertEqual(1, len(errors(80, '["up"]')))
        self.assertEqual(1, len(errors(8080, '["rise"]')))

    def test_compositions(self):
        engine = {"expose": ["8080"], "environment": {"PHAROS_WEB_BEHIND_PROXY": "172.16.0.0/12"}}
        proxy = {"environment": {"UPSTREAM": "pharos:8080"}}

        def errors(**changes):
            return packaged.compose_problems({"services": {"pharos": engine | changes, "caddy": proxy}}, "8080")
        self.assertEqual([], errors())
        for changes in [{"expose": ["80"]}, {"ports": ["8080:8080"]}, {"environment": {}}]:
            self.assertEqual(1, len(errors(**changes)), changes)

    def test_proxies(self):
        good = "127.0.0.1:8080 X-Forwarded-For X-Forwarded-Proto /metrics /admin"
        self.assertEqual([], packaged.proxy_problems(good, "8080"))
        for bad in [good.replace("8080", "80"), good.replace("/metrics", ""),
                    good + " $proxy_add_x_forwarded_for"]:
            self.assertEqual(1, len(packaged.proxy_problems(bad, "8080")), bad)

    def test_paths_of_the_package(self):
        self.assertEqual({"/usr/bin/pharos"}, packaged.packaged_paths('put 755 "$binary" usr/bin/pharos\nputs 1 2 3\n'))


class BillOfMaterials(unittest.TestCase):
    LOCK = '[[package]]\nname = "lamp"\nversion = "1.0.0"\nchecksum = "ab"\n'

    def metadata(self):
        def package(identity, name, licence):
            return {"id": identity, "name": name, "version": "1.0.0", "license": licence, "repository": None}

        def uses(kind, *identities):
            return [{"pkg": identity, "dep_kinds": [{"kind": kind}]} for identity in identities]
        nodes = [
            {"id": "p", "dependencies": ["l", "t"], "deps": uses(None, "l") + uses("dev", "t")},
            {"id": "l", "dependencies": [], "deps": []},
            {"id": "t", "dependencies": [], "deps": []},
        ]
        packages = [package("p", "pharos", "MIT"), package("l", "lamp", "MIT/Apache-2.0"), package("t", "tests", "MIT")]
        return {"packages": packages, "workspace_members": ["p"], "resolve": {"nodes": nodes}}

    def test_linked_packages_are_listed(self):
        bill = sbom.bill(self.metadata(), self.LOCK)
        [lamp] = bill["components"]
        self.assertEqual("pkg:cargo/lamp@1.0.0", lamp["purl"])
        self.assertEqual([{"expression": "MIT OR Apache-2.0"}], lamp["licenses"])
        self.assertEqual([{"alg": "SHA-256", "content": "ab"}], lamp["hashes"])
        self.assertIn({"ref": "pkg:cargo/pharos@1.0.0", "dependsOn": [lamp["purl"]]}, bill["dependencies"])
        self.assertEqual(bill, sbom.bill(self.metadata(), self.LOCK))


class Replacements(unittest.TestCase):
    PATH = "crates/pharos-store/src/lamp.rs"

    def errors(self, text):
        return [error for error in replacements.violations({self.PATH: text}) if error.startswith(self.PATH)]

    def test_private_replacements_are_found(self):
        for call in ["fs::write(&path, text)?;", "std::fs::rename(a, b)?;", "File::create(&path)?", "new.persist(path)"]:
            self.assertEqual(1, len(self.errors(f"fn f() {{ {call} }}")), call)

    def test_tests_and_comments_are_free(self):
        self.assertEqual([], self.errors("// fs::write(\n#[cfg(test)]\nmod tests { fs::write(a, b) }"))

    def test_callers_need_a_power_cut_test(self):
        call = "fn f() { pharos_files::replace(&path, text) }\n"
        self.assertEqual(1, len(self.errors(call)))
        self.assertEqual([], self.errors(call + "#[cfg(test)]\nmod tests { power_cut::check(a, b) }"))


class Arrows(unittest.TestCase):
    def errors(self, *edges):
        return arrows.violations(set(edges), set(arrows.ALLOWED))

    def test_the_map(self):
        self.assertEqual([], self.errors(
            ("pharos-html", "pharos-text", None), ("pharos-html", "pharos-core", None),
            ("pharos-query", "pharos-graph", None), ("pharos-web", "pharos-engine", None),
            ("pharos-engine", "pharos-crawl", None), ("pharos", "pharos-testweb", None),
            ("pharos-lab", "pharos-testweb", None), ("pharos-lab", "pharos-mining", None),
        ))

    def test_forbidden_arrows(self):
        for edge in [
            ("pharos-core", "pharos-files", None), ("pharos-files", "pharos-core", None),
            ("pharos-core", "pharos-text", None), ("pharos-text", "pharos-html", None),
            ("pharos-crawl", "pharos-html", None), ("pharos-web", "pharos-index", None),
            ("pharos-engine", "pharos-query", None), ("pharos-engine", "pharos-web", None),
            ("pharos-store", "pharos-text", "dev"), ("pharos-index", "pharos-store", "build"),
        ]:
            self.assertEqual(1, len(self.errors(edge)), edge)

    def test_the_loopback_web(self):
        self.assertEqual([], self.errors(("pharos", "pharos-testweb", "dev")))
        for edge in [("pharos-crawl", "pharos-testweb", None), ("pharos-query", "pharos-testweb", "dev"),
                     ("pharos-testweb", "pharos-core", None), ("pharos-testweb", "pharos-core", "dev")]:
            self.assertEqual(1, len(self.errors(edge)), edge)

    def test_unused_arrows_are_named(self):
        tables = [(arrows.ALLOWED, None), (arrows.ALLOWED_IN_TESTS, "dev")]
        edges = {(source, target, kind) for table, kind in tables
                 for source, targets in table.items() for target in targets - {arrows.ANY}}
        self.assertEqual([], arrows.unused(edges))
        for edge in edges:
            self.assertEqual(1, len(arrows.unused(edges - {edge})), edge)
        # A dev-dependency alone does not need an arrow for the code.
        only_in_tests = edges - {("pharos-web", "pharos-mining", None)} | {("pharos-web", "pharos-mining", "dev")}
        self.assertIn("pharos-web -> pharos-mining", arrows.unused(only_in_tests)[0])

    def test_an_unknown_crate_is_named(self):
        self.assertIn("pharos-attic", arrows.violations(set(), {"pharos-attic"})[0])

    def test_edges_leave_foreign_crates_out(self):
        packages = [
            {"name": "pharos-html", "dependencies": [{"name": "pharos-core", "kind": None},
                                                     {"name": "html5ever", "kind": None}]},
            {"name": "pharos-core", "dependencies": []},
        ]
        self.assertEqual(({"pharos-html", "pharos-core"}, {("pharos-html", "pharos-core", None)}),
                         arrows.edges_of(packages))

    def test_every_arrow_points_into_the_table(self):
        for source, targets in arrows.ALLOWED.items():
            self.assertLessEqual(targets - {arrows.ANY}, set(arrows.ALLOWED), source)


class Golden(unittest.TestCase):
    def example(self, **changes):
        return {"name": "vbyte-135", "source": "a book", "crate": "pharos-lab", "given": "135",
                "part": "crates/pharos-lab/src/vbyte.rs", "expect": "03 0E", "test": ""} | changes

    def rule(self, example, part, tests=()):
        return golden.state(example, lambda _: part, lambda test: test in tests)

    def test_the_rule(self):
        test = "pharos-lab::vbyte::tests::encodes_135"
        self.assertEqual("waiting", self.rule(self.example(), part=False))
        self.assertEqual("tested", self.rule(self.example(test=test), part=True, tests=[test]))
        self.assertEqual("tested", self.rule(self.example(test=test), part=False, tests=[test]))
        self.assertIn("no test uses the example", self.rule(self.example(), part=True))
        self.assertIn("does not exist", self.rule(self.example(test=test), part=True))
        self.assertIn("does not exist", self.rule(self.example(test=test), part=False))

    def test_a_good_entry(self):
        self.assertEqual([], golden.shape_problems([self.example(), self.example(name="other", note="an error")]))

    def test_bad_entries(self):
        without = self.example()
        del without["expect"]
        for entries in [
            [without], [self.example(), self.example()], [self.example(colour="red")],
            [self.example(name="Not Kebab")], [self.example(given=" ")], [self.example(expect=135)],
            [self.example(part="crates/pharos-text/src/vbyte.rs")], [self.example(part="/tmp/vbyte.rs")],
            [self.example(part="crates/pharos-lab/../x.rs")], [self.example(test="encodes_135")],
        ]:
            self.assertEqual(1, len(golden.shape_problems(entries)), entries)

    def test_finding_tests_in_source(self):
        source = """
            #[test]
            fn plain() {}

            #[tokio::test(flavor = "multi_thread")]
            #[ignore = "needs a browser"]
            // why
            async fn with_runtime() {}

            proptest! {
                #[test]
                fn property(text in ".*") {}
            }

            fn helper() {}
            // fn commented_out() {}
            #[test]
            fn plain_and_more() {}
        """
        for name in ["plain", "with_runtime", "property", "plain_and_more"]:
            self.assertTrue(golden.has_test(source, name), name)
        for name in ["helper", "commented_out", "absent", "plain_and"]:
            self.assertFalse(golden.has_test(source, name), name)

    def test_finding_tests_in_a_crate(self):
        with tempfile.TemporaryDirectory() as directory:
            sources = Path(directory) / "crates/pharos-lab/src"
            sources.mkdir(parents=True)
            (sources / "vbyte.rs").write_text("#[test]\nfn encodes_135() {}\n", encoding="utf-8")
            self.assertTrue(golden.test_exists(Path(directory), "pharos-lab::vbyte::encodes_135"))
            self.assertFalse(golden.test_exists(Path(directory), "pharos-lab::vbyte::encodes_136"))
            self.assertFalse(golden.test_exists(Path(directory), "pharos-text::vbyte::encodes_135"))


class CargoRun(unittest.TestCase):
    """`cargo run`, as in the README, is unambiguous."""

    @staticmethod
    def metadata(default):
        packages = [{"id": name, "targets": [{"name": name, "kind": ["bin"]}]} for name in ("pharos", "pharos-testweb")]
        return {"packages": packages, "workspace_default_members": default}

    def test_one_binary_is_unambiguous(self):
        self.assertEqual(arrows.unclear_run(self.metadata(["pharos"])), [])

    def test_two_binaries_are_ambiguous(self):
        self.assertEqual(len(arrows.unclear_run(self.metadata(["pharos", "pharos-testweb"]))), 1)


class RunningDemo(unittest.TestCase):
    def test_the_address_is_read_from_the_output(self):
        output = "serving a sample web of 6 sites on this machine\nserving http://127.0.0.1:40123/  (Ctrl-C to stop)\n"
        self.assertEqual("127.0.0.1:40123", demo.address_in(output))
        self.assertIsNone(demo.address_in("serving a sample web of 6 sites"))

    def test_a_missing_binary_is_reported(self):
        with self.assertRaises(SystemExit) as ended, demo.Demo("target/no/such/binary"):
            pass
        self.assertIn("cannot start target/no/such/binary", str(ended.exception))


class ValidPages(unittest.TestCase):
    def test_links_are_unescaped(self):
        page = '<a href="/">x</a> <a href="/clean?url=http%3A%2F%2Fa.test%2F&amp;q=x" rel="nofollow">y</a>'
        self.assertEqual("/clean?url=http%3A%2F%2Fa.test%2F&q=x", valid_pages.link_in(page, r"/clean\?"))
        self.assertIsNone(valid_pages.link_in(page, "/snapshot/"))

    def test_problems_name_file_line_and_rule(self):
        message = {"ruleId": "no-dup-id", "severity": 2, "message": "Duplicate ID", "line": 3, "column": 7}
        report = [{"filePath": "home/home.html", "messages": [message, message | {"severity": 1}]}]
        self.assertEqual(["home.html:3:7: Duplicate ID [no-dup-id]"], valid_pages.problems(report))
        self.assertEqual([], valid_pages.problems([]))

    def test_the_list(self):
        names = [name for name, _, _ in valid_pages.PAGES]
        self.assertEqual(len(names), len(set(names)))
        for name, path, status in valid_pages.PAGES:
            self.assertTrue(path.startswith(("/", "{")) and status in (200, 404), name)


class FuzzApi(unittest.TestCase):
    def test_only_the_demo_gets_requests(self):
        command = fuzz_api.command("http://127.0.0.1:40123", 25)
        self.assertEqual("http://127.0.0.1:40123", command[command.index("--origin") + 1])
        self.assertIn("http://127.0.0.1:40123/api/v1/openapi.json", command)

    def test_an_empty_document_is_an_error(self):
        self.assertIsNone(fuzz_api.problem_with(200, '{"openapi": "3.1.0", "paths": {"/api/v1/search": {}}}'))
        for status, text, part in [
            (404, "{}", "returns 404"), (200, "no JSON", "not an OpenAPI document"), (200, "[]", "not an OpenAPI document"),
            (200, '{"openapi": "3.0.3", "paths": {}}', "not 3.1"), (200, '{"openapi": "3.1.0", "paths": {}}', "describes no operation"),
        ]:
            self.assertIn(part, fuzz_api.problem_with(status, text))


if __name__ == "__main__":
    unittest.main()
