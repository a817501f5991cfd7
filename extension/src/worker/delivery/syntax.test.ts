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
    addEventListener: (_type: string, listener: (event: unknown) => void) => listeners.add(listener),
    removeEventListener: (_type: string, listener: (event: unknown) => void) => listeners.delete(listener),
  });
  let evaluatedValue: unknown;
  for (const [i, code] of scripts.entries()) {
    try {
      evaluatedValue = new Script(code, { filename: `script${i}` }).runInContext(realm);
    } catch (error) {
      const lineno = Number(/^script\d+:(\d+)/.exec(Object(error).stack)?.[1]);
      for (const listener of listeners)
        listener({ message: `Uncaught ${error}`, lineno, preventDefault: () => undefined });
    }
  }
  assert.equal(listeners.size, 0, 'no error listener may remain in the page');
  return JSON.parse(JSON.stringify(evaluatedValue ?? null));
}

test('SyntaxChecker returns the message and the line of a syntax error', async () => {
  const syntaxChecker = makeSyntaxChecker(runInWorld);
  const code = wrapCode('// first\nvar x = /(?<a>.)(?<a>.)/;');
  assert.equal(syntaxChecker.findLastProblem(plugin), undefined);
  const syntaxProblem = await syntaxChecker.problem(doc, plugin, { code });
  assert.match(
    syntaxProblem ?? '',
    /^the browser can't parse the adapter: SyntaxError: .*Duplicate capture group name \(line 2\)$/,
  );
  assert.equal(syntaxChecker.findLastProblem(plugin), syntaxProblem);
  assert.equal(syntaxChecker.findLastProblem({ ...plugin, script: 's2' }), undefined);
  const pre = await syntaxChecker.problem(doc, plugin, { code: wrapCode('1'), preScript: wrapCode('let a; let a;') });
  assert.match(pre ?? '', /the pre-script: .*already been declared \(line 1\)/);
});

test('SyntaxChecker runs no plugin code, and returns no problem for valid code or for a silent document', async () => {
  const syntaxChecker = makeSyntaxChecker(runInWorld);
  const code = wrapCode('throw new Error("it ran") // end');
  assert.equal(await syntaxChecker.problem(doc, plugin, { code, preScript: code }), undefined);
  assert.equal(
    await makeSyntaxChecker(() => Promise.reject(new Error('gone'))).problem(doc, plugin, { code }),
    undefined,
  );
  assert.equal(syntaxChecker.findLastProblem(plugin), undefined);
});
