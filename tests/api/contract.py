"""The contract of the API, api/openapi.yaml: which operation a request is of, and whether an answer keeps it."""

import json
import pathlib
import re

import jsonschema
import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCHEMAS = ROOT / "api/schemas"
METHODS = ("get", "post", "patch", "delete")
BASE = "http://beryl/api/v1/openapi.yaml"


class Loader(yaml.SafeLoader):
    """Takes no key twice, of which YAML would silently keep the last."""

    def construct_mapping(self, node, deep=False):
        keys = [key.value for key, _ in node.value]
        twice = {key for key in keys if keys.count(key) > 1}
        assert not twice, f"twice in a mapping: {twice}{node.start_mark}"
        return super().construct_mapping(node, deep)


class Contract:
    def __init__(self, text):
        self.document = yaml.load(text, Loader)
        self.answered = set()  # operations that were seen to succeed
        files = {f"http://beryl/api/v1/schemas/{path.name}": json.loads(path.read_text())
                 for path in SCHEMAS.glob("*.json")}
        for name, schema in files.items():
            schema["$id"] = name
        files[BASE] = {"$schema": "https://json-schema.org/draft/2020-12/schema",
                       "components": self.document["components"]}
        # Versions before 4.18 have no registry.
        try:
            import referencing
            resources = [(name, referencing.Resource.from_contents(file)) for name, file in files.items()]
            self.resolving = {"registry": referencing.Registry().with_resources(resources)}
        except ImportError:
            self.resolving = {"resolver": jsonschema.RefResolver(BASE, files[BASE], store=files)}
        self.paths = []
        for path, item in self.document["paths"].items():
            pattern = re.escape(path)
            pattern = re.sub(r"\\\{name\\\}$", ".+", pattern) if path.startswith("/api/v1/models/") else pattern
            self.paths.append((re.compile(re.sub(r"\\\{[a-z]+\\\}", "[^/]+", pattern)), item))

    def operations(self):
        return {item[method]["operationId"] for item in self.document["paths"].values() for method in METHODS
                if method in item}

    def find(self, method, path):
        for pattern, item in self.paths:
            if pattern.fullmatch(path):
                return item.get("get" if method == "HEAD" else method.lower())
        return None

    def resolve(self, part):
        while "$ref" in part:
            where = self.document
            for name in part["$ref"].removeprefix("#/").split("/"):
                where = where[name]
            part = where
        return part

    def validate(self, value, schema):
        errors = list(jsonschema.Draft202012Validator(schema, **self.resolving).iter_errors(value))
        if errors:
            best = jsonschema.exceptions.best_match(errors)
            raise AssertionError(f"{'/'.join(map(str, best.absolute_path))}: {best.message[:500]}")

    def check(self, method, path, status, headers, body):
        """Holds an answer to the contract; a path or method that it does not have may only be refused."""
        kind = headers.get("content-type", "").split(";")[0]
        operation = self.find(method, path)
        if operation is None:
            assert status in (400, 403, 404, 405, 421), f"{method} {path}: {status} of no operation"
            assert kind == "application/problem+json", kind
            return self.validate(json.loads(body), {"$ref": f"{BASE}#/components/schemas/Problem"})
        responses = operation["responses"]
        assert str(status) in responses or status >= 400, f"{method} {path}: {status} is not documented"
        response = self.resolve(responses.get(str(status), responses["default"]))
        content = response.get("content")
        if status < 300:
            self.answered.add(operation["operationId"])
        for name, header in response.get("headers", {}).items():
            assert name in headers or not header.get("required"), f"{method} {path}: {status} has no {name}"
        if content is None:
            assert body == b"", body
            return None
        assert kind in content, f"{method} {path}: {status} is {kind}, not one of {list(content)}"
        if method == "HEAD" or not kind.endswith("json"):
            return None
        # References in the document are to itself, or to a path of the server.
        return self.validate(json.loads(body), {"$id": BASE, "components": self.document["components"],
                                                **content[kind]["schema"]})
