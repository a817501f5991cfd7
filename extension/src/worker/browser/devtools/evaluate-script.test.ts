import assert from 'node:assert/strict';
import { test } from 'node:test';
import vm from 'node:vm';
import { MaxResultCharacters, makeEvaluateScript, makeExpression, readEvaluateAnswer } from './evaluate-script.ts';

async function evaluateScript(code: string, setup = ''): Promise<unknown> {
  const context = vm.createContext({});
  vm.runInContext(setup, context);
  return await vm.runInContext(makeEvaluateScript(code, '"the element"'), context);
}

const answerOf = async (code: string, setup?: string) => readEvaluateAnswer(await evaluateScript(code, setup), code);

test('the value of a function or an expression is JSON', async () => {
  for (const [code, json] of [
    ['() => 1', '1'],
    ['(element) => element', '"the element"'],
    ['[1, "a\\u0001\\"\\\\", [], {}]', '[1,"a\\u0001\\"\\\\",[],{}]'],
    ['({ a: undefined, b: () => 1, c: 0 });', '{"c":0}'],
    ['await Promise.resolve(-1.5) // a comment', '-1.5'],
    ['null', 'null'],
  ] as const)
    assert.deepEqual(await answerOf(code), { kind: 'json', json, hasReplacedValues: false, isTruncated: false }, code);
  assert.deepEqual(await answerOf('() => {}'), { kind: 'undefined' });
});

test('large and deeply nested script results are truncated', async () => {
  const cut = await answerOf(`() => ['x'.repeat(${MaxResultCharacters}), 'y']`);
  assert.ok(cut?.kind === 'json' && cut.isTruncated && cut.json.length === MaxResultCharacters);
  const deep = await answerOf('() => { let a = 1; for (let i = 0; i < 5000; i++) a = [a]; return a; }');
  assert.ok(deep?.kind === 'json' && deep.hasReplacedValues && deep.json.includes('[too deep]'));
});

test("an error has the position in the agent's code", async () => {
  assert.deepEqual(await answerOf('() => {\n  throw new Error("a\\nb");\n}'), {
    kind: 'error',
    message: 'Error: a\nb',
    line: 2,
    column: 9,
  });
  assert.deepEqual(await answerOf('() => { throw null }'), { kind: 'error', message: 'null' });
  assert.throws(() => new vm.Script(makeExpression('() => {')), /SyntaxError/);
});

test('a page that replaces built-ins produces a valid answer or none', async () => {
  const setup = 'String.prototype.slice = () => 7; Object.getPrototypeOf = () => { throw 1 }; JSON.stringify = 0;';
  assert.equal((await answerOf('() => ({ a: 1 })', setup))?.kind, 'json');
  for (const value of [undefined, 1, {}, 'json', 'other:1', 'error:9', 'x'.repeat(3_000_000)])
    assert.equal(readEvaluateAnswer(value, '1'), undefined, String(value).slice(0, 20));
  assert.deepEqual(readEvaluateAnswer('error:Infinity\nno number', '1'), { kind: 'error', message: 'no number' });
});
