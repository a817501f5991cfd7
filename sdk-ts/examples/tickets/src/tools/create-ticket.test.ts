import assert from 'node:assert/strict';
import test from 'node:test';
import { platform } from '../test/platform.ts';
import { createTicket } from './create-ticket.ts';

const settings = { site: 'https://tickets.test' };
const created = { id: '8', title: 'New', state: 'open' };

test('it sends the token that the pre-script has found', async (t) => {
  const { requests } = platform(t, { settings, preScript: { token: 's3' }, answer: () => created });
  assert.deepEqual(await createTicket.handle({ project: 'website', title: 'New' }), created);
  const [request] = requests;
  assert.deepEqual([request?.method, request?.headers.get('x-ticket-token')], ['POST', 's3']);
  assert.deepEqual(await request?.json(), { project: 'website', title: 'New' });
});

test('it asks once: the site may have created the ticket all the same', async (t) => {
  const answer = () => new Response('try later', { status: 503 });
  const { requests } = platform(t, { settings, preScript: { token: 's3' }, answer });
  await assert.rejects(createTicket.handle({ project: 'website', title: 'New' }), { code: 'http_error' });
  assert.equal(requests.length, 1);
});

test('it asks for a reload as long as there is no token', async (t) => {
  const { requests } = platform(t, { settings });
  await assert.rejects(createTicket.handle({ project: 'website', title: 'New' }), { code: 'AUTH_ERROR' });
  assert.equal(requests.length, 0);
});
