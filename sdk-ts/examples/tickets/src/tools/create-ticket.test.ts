import assert from 'node:assert/strict';
import test from 'node:test';
import { mockPlatform } from '../test/platform.ts';
import { createTicket } from './create-ticket.ts';

const settings = { site: 'https://tickets.test' };
const created = { id: '8', title: 'New', state: 'open' };

test('create_ticket sends the token that the pre-script stored', async (t) => {
  const { requests } = mockPlatform(t, { settings, preScript: { token: 's3' }, answer: () => created });
  assert.deepEqual(await createTicket.handle({ project: 'website', title: 'New' }), created);
  const [request] = requests;
  assert.deepEqual([request?.method, request?.headers.get('x-ticket-token')], ['POST', 's3']);
  assert.deepEqual(await request?.json(), { project: 'website', title: 'New' });
});

test('create_ticket sends one request: the site may have created the ticket although the request failed', async (t) => {
  const answer = () => new Response('try later', { status: 503 });
  const { requests } = mockPlatform(t, { settings, preScript: { token: 's3' }, answer });
  await assert.rejects(createTicket.handle({ project: 'website', title: 'New' }), { code: 'http_error' });
  assert.equal(requests.length, 1);
});

test('without a token it fails and asks for a reload', async (t) => {
  const { requests } = mockPlatform(t, { settings });
  await assert.rejects(createTicket.handle({ project: 'website', title: 'New' }), { code: 'AUTH_ERROR' });
  assert.equal(requests.length, 0);
});
