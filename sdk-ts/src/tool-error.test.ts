import assert from 'node:assert/strict';
import test from 'node:test';
import { ToolError } from './tool-error.ts';

test('the factories of ToolError set code, category and retry advice', () => {
  const errors = [
    ToolError.auth('m'),
    ToolError.notFound('m'),
    ToolError.rateLimited('m', 1500),
    ToolError.rateLimited('m'),
    ToolError.validation('m'),
    ToolError.timeout('m'),
    ToolError.internal('m'),
    ToolError.auth('m', 'MINE'),
  ];
  assert.deepEqual(
    errors.map((e) => [e.code, e.category, e.retryable, e.retryAfterMs]),
    [
      ['AUTH_ERROR', 'auth', false, undefined],
      ['NOT_FOUND', 'not_found', false, undefined],
      ['RATE_LIMITED', 'rate_limit', true, 1500],
      ['RATE_LIMITED', 'rate_limit', true, undefined],
      ['VALIDATION_ERROR', 'validation', false, undefined],
      ['TIMEOUT', 'timeout', true, undefined],
      ['INTERNAL_ERROR', 'internal', false, undefined],
      ['MINE', 'auth', false, undefined],
    ],
  );
});

test('a ToolError is an Error with only the given fields', () => {
  const causeError = new Error('below');
  const error = new ToolError('m', 'C', { cause: causeError });
  assert.ok(error instanceof Error);
  assert.equal(error.name, 'ToolError');
  assert.equal(error.cause, causeError);
  assert.equal('cause' in new ToolError('m', 'C'), false);
  assert.equal(new ToolError('m', 'C').retryAfterMs, undefined);
});

test('ToolError.aborted contains the reason', () => {
  const reason = new DOMException('the agent stopped it', 'AbortError');
  const error = ToolError.aborted(reason);
  assert.deepEqual([error.code, error.message, error.cause], ['aborted', 'aborted: the agent stopped it', reason]);
  assert.equal(ToolError.aborted(undefined).message, 'aborted');
});

test('instanceof ToolError accepts an error of the extension', () => {
  class CustomError extends ToolError {
    override name = 'Mine';
  }
  const extensionError = Object.assign(new Error('no'), { name: 'ToolError', code: 'denied', retryable: false });
  assert.ok(extensionError instanceof ToolError);
  assert.ok(new ToolError('m', 'C') instanceof ToolError);
  assert.ok(new CustomError('m', 'C') instanceof ToolError);
  assert.ok(new CustomError('m', 'C') instanceof CustomError);
  for (const error of [extensionError, new ToolError('m', 'C')]) assert.equal(error instanceof CustomError, false);
  const errorWithoutCode = { name: 'ToolError' };
  for (const thrownValue of [
    errorWithoutCode,
    new Error('m'),
    Object.assign(new Error('m'), { code: 'C' }),
    'ToolError',
    null,
    undefined,
  ]) {
    assert.equal(thrownValue instanceof ToolError, false);
  }
});
