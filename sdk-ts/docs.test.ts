import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import * as sdk from './src/index.ts';

const repositoryRoot = new URL('../', import.meta.url);
const docsText = readFileSync(new URL('docs/plugins.md', repositoryRoot), 'utf8');

test('every snippet of docs/plugins.md is in the file that its first line names', () => {
  const codeSnippets = [...docsText.matchAll(/^```(?:ts|json)\n(.*)\n((?:.*\n)*?)```$/gm)];
  assert.ok(codeSnippets.length > 5);
  for (const [, firstLine = '', interfaceBody = ''] of codeSnippets) {
    const name = /^\/\/ (\S+)$/.exec(firstLine)?.[1];
    assert.ok(name, `a snippet begins with ${firstLine}, not with the name of its file`);
    assert.ok(
      readFileSync(new URL(name, repositoryRoot), 'utf8').includes(interfaceBody),
      `the file ${name} no longer contains this snippet:\n${interfaceBody}`,
    );
  }
});

test('docs/plugins.md names every factory and function of the SDK', () => {
  // The documentation omits exports that are meant only for programs that inspect plugins.
  const programExports = [
    'LUCIDE_ICON_NAMES',
    'NAME_REGEX',
    'RESERVED_NAMES',
    'validatePluginName',
    'validateUrlPattern',
  ];
  const indirectExports = ['httpStatusToToolError', 'parseRetryAfterMs']; // called only by the fetch functions
  const names = Object.keys(sdk).filter((name) => !programExports.includes(name) && !indirectExports.includes(name));
  assert.ok(names.length > 40);
  for (const name of names) assert.match(docsText, new RegExp(`\\b${name}\\b`));
});

test('docs/plugins.md names every member of ToolHandlerContext, TestContext and ContextScript', () => {
  const interfaceFiles: [string, string][] = [
    ['sdk-ts/src/context.ts', 'ToolHandlerContext'],
    ['sdk-ts/src/testing-context.ts', 'TestContext'],
    ['sdk-ts/src/testing-context.ts', 'ContextScript'],
  ];
  for (const [file, name] of interfaceFiles) {
    const sourceText = readFileSync(new URL(file, repositoryRoot), 'utf8');
    const interfaceBody = new RegExp(`^export interface ${name} .*\\{\\n((?:.*\\n)*?)\\}$`, 'm').exec(sourceText)?.[1];
    const interfaceMembers = [...(interfaceBody ?? '').matchAll(/^ {2}(?:readonly )?(\w+)[?(:]/gm)].map(
      ([, member = '']) => member,
    );
    assert.ok(interfaceMembers.length > 3, `${file}: ${name}`);
    for (const member of interfaceMembers) assert.match(docsText, new RegExp(`\`${member}\\b`), `${name}.${member}`);
  }
});
