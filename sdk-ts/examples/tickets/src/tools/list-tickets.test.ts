import assert from 'node:assert/strict';
import test from 'node:test';
import { mockPlatform } from '../test/platform.ts';
import { listTickets } from './list-tickets.ts';

const tickets = [{ id: '7', title: 'Broken link', state: 'open' }];

test('list_tickets sends the settings of the user', async (t) => {
  const settings = { site: 'https://tickets.test/', state: 'all', limit: 5 };
  const { requests, stored: storedItems } = mockPlatform(t, { settings, answer: () => tickets });
  assert.deepEqual(await listTickets.handle({ project: 'a & b' }), { project: 'a & b', tickets });
  assert.equal(requests[0]?.url, 'https://tickets.test/api/tickets?project=a+%26+b&state=all&limit=5');
  assert.deepEqual([...storedItems], [['opentabs-tickets-project', 'a & b']]);
});

test('list_tickets without a project lists the project of the last call', async (t) => {
  const { requests, stored: storedItems } = mockPlatform(t, {
    settings: { site: 'https://tickets.test' },
    answer: () => tickets,
  });
  storedItems.set('opentabs-tickets-project', 'website');
  assert.equal((await listTickets.handle({})).project, 'website');
  assert.equal(requests[0]?.url, 'https://tickets.test/api/tickets?project=website&state=open&limit=20');
});

test('the error of list_tickets names the missing setting', async (t) => {
  mockPlatform(t, {});
  await assert.rejects(listTickets.handle({}), {
    code: 'VALIDATION_ERROR',
    message: /opentabs plugin configure tickets/,
  });
});

test('list_tickets retries a failed request once', async (t) => {
  let requests = 0;
  const respondAfterDeploy = () => (++requests === 1 ? new Response('deploying', { status: 503 }) : tickets);
  mockPlatform(t, { settings: { site: 'https://tickets.test' }, answer: respondAfterDeploy });
  assert.deepEqual(await listTickets.handle({ project: 'website' }), { project: 'website', tickets });
});
