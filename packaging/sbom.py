#!/usr/bin/env python3
"""Print the software bill of materials of the binary: CycloneDX 1.6, as JSON.

It lists the libraries linked into the binary with versions, licences, checksums and dependencies. The same commit
always gives the same output.
"""

import json
import sys
import tomllib
import uuid
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tools"))

import metadata as cargo  # noqa: E402: it is in tools/
from notices import linked  # noqa: E402

# Cargo.toml files also separate alternatives by a slash, which SPDX expressions do not know.
OLD_ALTERNATIVE = "/"


def checksums(lock):
    """Return the SHA-256 of each package in the lock file, by name and version."""
    return {(package["name"], package["version"]): package["checksum"]
            for package in tomllib.loads(lock)["package"] if "checksum" in package}


def reference(package):
    """Return the package URL of a package."""
    return f"pkg:cargo/{package['name']}@{package['version']}"


def component(package, sums):
    """Return the entry of a library."""
    entry = {"type": "library", "bom-ref": reference(package), "name": package["name"],
             "version": package["version"], "purl": reference(package), "scope": "required"}
    if package["license"]:
        expression = package["license"].replace(OLD_ALTERNATIVE, " OR ")
        entry["licenses"] = [{"expression": " ".join(expression.split())}]
    if package["repository"]:
        entry["externalReferences"] = [{"type": "vcs", "url": package["repository"]}]
    checksum = sums.get((package["name"], package["version"]))
    if checksum:
        entry["hashes"] = [{"alg": "SHA-256", "content": checksum}]
    return entry


def dependencies(metadata, packages):
    """Return the direct dependencies of each package among `packages`."""
    references = {package["id"]: reference(package) for package in packages}
    graph = []
    for node in metadata["resolve"]["nodes"]:
        if node["id"] in references:
            below = {references[identity] for identity in node["dependencies"] if identity in references}
            graph.append({"ref": references[node["id"]], "dependsOn": sorted(below)})
    return sorted(graph, key=lambda entry: entry["ref"])


def bill(metadata, lock):
    """Return the bill of materials."""
    sums = checksums(lock)
    workspace = cargo.members(metadata)
    program = next(package for package in workspace if package["name"] == "pharos")
    own = {package["id"] for package in workspace}
    libraries = linked(metadata)
    packages = libraries + [package for package in metadata["packages"] if package["id"] in own]
    top = {"type": "application", "bom-ref": reference(program), "name": program["name"],
           "version": program["version"], "purl": reference(program),
           "licenses": [{"expression": program["license"]}]}
    inner = [component(package, sums) for package in workspace if package is not program]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, lock)}",
        "version": 1,
        "metadata": {"component": top},
        "components": sorted(inner + [component(package, sums) for package in libraries],
                             key=lambda entry: entry["bom-ref"]),
        "dependencies": dependencies(metadata, packages),
    }


def main():
    lock = (cargo.ROOT / "Cargo.lock").read_text(encoding="utf-8")
    json.dump(bill(cargo.load(), lock), sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
