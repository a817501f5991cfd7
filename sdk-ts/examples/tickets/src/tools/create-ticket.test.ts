import assert from 'node:assert/strict';
import test from 'node:test';
import { mockPlatform } from '../test/platform.ts';
import { createTicket } from './create-ticket.ts';

const settings = { site: 'https://tickets.test' };
const createdTicket = { id: '8', title: 'New', state: 'open' };

test('create_ticket sends the token that the pre-script stored', async (t) => {
  const { requests } = mockPlatform(t, { settings, preScript: { token: 's3' }, answer: () => createdTicket });
  assert.deepEqual(await createTicket.handle({ project: 'website', title: 'New' }), createdTicket);
  const [request] = requests;
  assert.deepEqual([request?.method, request?.headers.get('x-ticket-token')], ['POST', 's3']);
  assert.deepEqual(await request?.json(), { project: 'website', title: 'New' });
});

test('create_ticket does not retry, because a failed request may have created the ticket', async (t) => {
  const respondLater = () => new Response('try later', { status: 503 });
  const { requests } = mockPlatform(t, { settings, preScript: { token: 's3' }, answer: respondLater });
  await assert.rejects(createTicket.handle({ project: 'website', title: 'New' }), { code: 'http_error' });
  assert.equal(requests.length, 1);
});

test('create_ticket fails without a token and asks for a reload', async (t) => {
  const { requests } = mockPlatform(t, { settings });
  await assert.rejects(createTicket.handle({ project: 'website', title: 'New' }), { code: 'AUTH_ERROR' });
  assert.equal(requests.length, 0);
});
