import assert from 'node:assert/strict';
import test from 'node:test';
import { createContext, Script } from 'node:vm';
import type { PluginInfo } from '../../../../wire/wire.gen.ts';
import type { Doc } from '../documents/docs.ts';
import { makeSyntaxChecker } from './syntax.ts';

const plugin: PluginInfo = { name: 'demo', displayName: 'Demo', hash: 'h', script: 's', world: 'main' };
const doc: Doc = { tabId: 1, frameId: 0, documentId: 'd', url: '', post: () => undefined };

function wrapCode(code: string): string {
  return `function ({Object}) { return function (globalThis) {\n${code}\n}; }`;
}

/**
 * runInWorld runs scripts as Chrome does in an isolated world. An exception triggers an error event, and ends only
 * the script that threw the exception.
 */
async function runInWorld(_: Doc, scripts: readonly string[]): Promise<unknown> {
  const listeners = new Set<(event: unknown) => void>();
  const realm = createContext({
    addEventListener: (_type: string, heard: (event: unknown) => void) => listeners.add(heard),
    removeEventListener: (_type: string, heard: (event: unknown) => void) => listeners.delete(heard),
  });
  let evaluatedValue: unknown;
  for (const [i, code] of scripts.entries()) {
    try {
      evaluatedValue = new Script(code, { filename: `script${i}` }).runInContext(realm);
    } catch (error) {
      const lineno = Number(/^script\d+:(\d+)/.exec(Object(error).stack)?.[1]);
      for (const heard of listeners) heard({ message: `Uncaught ${error}`, lineno, preventDefault: () => undefined });
    }
  }
  assert.equal(listeners.size, 0, 'the page still has an error listener');
  return JSON.parse(JSON.stringify(evaluatedValue ?? null));
}

test('a syntax error is found with its message and line', async () => {
  const syntaxChecker = makeSyntaxChecker(runInWorld);
  const code = wrapCode('// first\nvar x = /(?<a>.)(?<a>.)/;');
  assert.equal(syntaxChecker.lastProblem(plugin), undefined);
  const syntaxProblem = await syntaxChecker.problem(doc, plugin, { code });
  assert.match(
    syntaxProblem ?? '',
    /^the browser can't parse the adapter: SyntaxError: .*Duplicate capture group name \(line 2\)$/,
  );
  assert.equal(syntaxChecker.lastProblem(plugin), syntaxProblem);
  assert.equal(syntaxChecker.lastProblem({ ...plugin, script: 's2' }), undefined);
  const pre = await syntaxChecker.problem(doc, plugin, { code: wrapCode('1'), preScript: wrapCode('let a; let a;') });
  assert.match(pre ?? '', /the pre-script: .*already been declared \(line 1\)/);
});

test('valid code has no problem and does not run, and neither does code in a document that does not answer', async () => {
  const syntaxChecker = makeSyntaxChecker(runInWorld);
  const code = wrapCode('throw new Error("it ran") // end');
  assert.equal(await syntaxChecker.problem(doc, plugin, { code, preScript: code }), undefined);
  assert.equal(
    await makeSyntaxChecker(() => Promise.reject(new Error('gone'))).problem(doc, plugin, { code }),
    undefined,
  );
  assert.equal(syntaxChecker.lastProblem(plugin), undefined);
});
