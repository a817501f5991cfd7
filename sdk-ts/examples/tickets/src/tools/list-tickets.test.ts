import assert from 'node:assert/strict';
import test from 'node:test';
import { platform } from '../test/platform.ts';
import { listTickets } from './list-tickets.ts';

const tickets = [{ id: '7', title: 'Broken link', state: 'open' }];

test('it asks for what the person has set', async (t) => {
  const settings = { site: 'https://tickets.test/', state: 'all', limit: 5 };
  const { requests, stored } = platform(t, { settings, answer: () => tickets });
  assert.deepEqual(await listTickets.handle({ project: 'a & b' }), { project: 'a & b', tickets });
  assert.equal(requests[0]?.url, 'https://tickets.test/api/tickets?project=a+%26+b&state=all&limit=5');
  assert.deepEqual([...stored], [['opentabs-tickets-project', 'a & b']]);
});

test('it lists the project of the last time', async (t) => {
  const { requests, stored } = platform(t, { settings: { site: 'https://tickets.test' }, answer: () => tickets });
  stored.set('opentabs-tickets-project', 'website');
  assert.equal((await listTickets.handle({})).project, 'website');
  assert.equal(requests[0]?.url, 'https://tickets.test/api/tickets?project=website&state=open&limit=20');
});

test('it says which setting is missing', async (t) => {
  platform(t, {});
  await assert.rejects(listTickets.handle({}), {
    code: 'VALIDATION_ERROR',
    message: /opentabs plugin configure tickets/,
  });
});

test('it tries once more', async (t) => {
  let asked = 0;
  const answer = () => (++asked === 1 ? new Response('deploying', { status: 503 }) : tickets);
  platform(t, { settings: { site: 'https://tickets.test' }, answer });
  assert.deepEqual(await listTickets.handle({ project: 'website' }), { project: 'website', tickets });
});
