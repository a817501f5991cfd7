import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { z } from 'zod';
import { deleteJSON, patchJSON, postForm, postFormData, postJSON, putJSON } from './send.ts';

function mockSiteResponses(t: TestContext): Request[] {
  const requests: Request[] = [];
  t.mock.method(globalThis, 'fetch', async (url: string, init: RequestInit) => {
    requests.push(new Request(new URL(url, 'https://site.test'), init));
    return Response.json({ id: 1 });
  });
  return requests;
}

const schema = z.object({ id: z.number() });
const jsonContentType = 'application/json';

test('a JSON request has its method, its content type and the headers of the caller', async (t) => {
  const requests = mockSiteResponses(t);
  for (const [sendFunction, method] of [
    [postJSON, 'POST'],
    [putJSON, 'PUT'],
    [patchJSON, 'PATCH'],
  ] as const) {
    assert.deepEqual(await sendFunction('/a', { text: 'hi' }, { headers: { 'x-csrf': 't' } }), { id: 1 });
    assert.deepEqual(await sendFunction('/a', null, undefined, schema), { id: 1 });
    const [firstRequest, secondRequest] = requests.splice(0);
    assert.ok(firstRequest && secondRequest);
    assert.deepEqual(
      [firstRequest.method, firstRequest.credentials, await firstRequest.text()],
      [method, 'include', '{"text":"hi"}'],
    );
    assert.deepEqual(
      [firstRequest.headers.get('content-type'), firstRequest.headers.get('x-csrf')],
      [jsonContentType, 't'],
    );
    assert.equal(await secondRequest.text(), 'null');
  }
});

test('postJSON keeps the content type of the caller', async (t) => {
  const requests = mockSiteResponses(t);
  await postJSON('/a', 1, { headers: [['Content-Type', 'application/vnd.api+json']] });
  assert.equal(requests[0]?.headers.get('content-type'), 'application/vnd.api+json');
});

test('deleteJSON sends no body', async (t) => {
  const requests = mockSiteResponses(t);
  assert.deepEqual(await deleteJSON('/a', { headers: { a: 'b' } }, schema), { id: 1 });
  assert.deepEqual(await deleteJSON('/a'), { id: 1 });
  const [request] = requests;
  assert.deepEqual([request?.method, await request?.text(), request?.headers.get('a')], ['DELETE', '', 'b']);
  assert.equal(request?.headers.get('content-type'), null);
});

test('postForm sends a URL-encoded form, and postFormData sends a multipart form', async (t) => {
  const requests = mockSiteResponses(t);
  assert.deepEqual(await postForm('/a', { name: 'A & B', empty: '' }, undefined, schema), { id: 1 });
  const formData = new FormData();
  formData.append('file', new Blob(['text']), 'a.txt');
  assert.deepEqual(await postFormData('/a', formData, {}, schema), { id: 1 });
  const [encodedRequest, multipartRequest] = requests;
  assert.equal(await encodedRequest?.text(), 'name=A+%26+B&empty=');
  assert.equal(encodedRequest?.headers.get('content-type'), 'application/x-www-form-urlencoded');
  assert.match(multipartRequest?.headers.get('content-type') ?? '', /^multipart\/form-data; boundary=/);
  assert.equal((await multipartRequest?.formData())?.has('file'), true);
});

test('a response that does not match the schema is an error', async (t) => {
  mockSiteResponses(t);
  await assert.rejects(postJSON('/a', {}, {}, z.object({ id: z.string() })), { code: 'VALIDATION_ERROR' });
});
