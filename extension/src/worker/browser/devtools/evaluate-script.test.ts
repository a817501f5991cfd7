import assert from 'node:assert/strict';
import { test } from 'node:test';
import vm from 'node:vm';
import {
  MaxResultCharacters,
  makeEvaluateScript,
  makeScriptExpression,
  readEvaluateAnswer,
} from './evaluate-script.ts';

async function evaluateScript(code: string, setupCode = ''): Promise<unknown> {
  const context = vm.createContext({});
  vm.runInContext(setupCode, context);
  return await vm.runInContext(makeEvaluateScript(code, '"the element"'), context);
}

const readScriptAnswer = async (code: string, setupCode?: string) =>
  readEvaluateAnswer(await evaluateScript(code, setupCode), code);

test('the evaluation script returns the value of a function or an expression as JSON', async () => {
  for (const [code, json] of [
    ['() => 1', '1'],
    ['(element) => element', '"the element"'],
    ['[1, "a\\u0001\\"\\\\", [], {}]', '[1,"a\\u0001\\"\\\\",[],{}]'],
    ['({ a: undefined, b: () => 1, c: 0 });', '{"c":0}'],
    ['await Promise.resolve(-1.5) // a comment', '-1.5'],
    ['null', 'null'],
  ] as const)
    assert.deepEqual(
      await readScriptAnswer(code),
      { kind: 'json', json, hasReplacedValues: false, isTruncated: false },
      code,
    );
  assert.deepEqual(await readScriptAnswer('() => {}'), { kind: 'undefined' });
});

test('large and deeply nested script results are truncated', async () => {
  const cut = await readScriptAnswer(`() => ['x'.repeat(${MaxResultCharacters}), 'y']`);
  assert.ok(cut?.kind === 'json' && cut.isTruncated && cut.json.length === MaxResultCharacters);
  const deepResult = await readScriptAnswer('() => { let a = 1; for (let i = 0; i < 5000; i++) a = [a]; return a; }');
  assert.ok(deepResult?.kind === 'json' && deepResult.hasReplacedValues && deepResult.json.includes('[too deep]'));
});

test("an error of the agent's code contains its position in the code", async () => {
  assert.deepEqual(await readScriptAnswer('() => {\n  throw new Error("a\\nb");\n}'), {
    kind: 'error',
    message: 'Error: a\nb',
    line: 2,
    column: 9,
  });
  assert.deepEqual(await readScriptAnswer('() => { throw null }'), { kind: 'error', message: 'null' });
  assert.throws(() => new vm.Script(makeScriptExpression('() => {')), /SyntaxError/);
});

test('a page that replaces built-ins causes a valid answer or an answer that readEvaluateAnswer rejects', async () => {
  const setupCode = 'String.prototype.slice = () => 7; Object.getPrototypeOf = () => { throw 1 }; JSON.stringify = 0;';
  assert.equal((await readScriptAnswer('() => ({ a: 1 })', setupCode))?.kind, 'json');
  for (const value of [undefined, 1, {}, 'json', 'other:1', 'error:9', 'x'.repeat(3_000_000)])
    assert.equal(readEvaluateAnswer(value, '1'), undefined, String(value).slice(0, 20));
  assert.deepEqual(readEvaluateAnswer('error:Infinity\nno number', '1'), { kind: 'error', message: 'no number' });
});
