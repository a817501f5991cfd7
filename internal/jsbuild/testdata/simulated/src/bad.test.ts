import { expect, simulate, test } from '@opentabs/sdk/testing';
import plugin from './index.ts';

test('wrong', async () => {
  const call = await simulate(plugin).call('count', {});
  expect(call.result).toEqual({ counted: 4 });
});

test('waits for nothing', () => new Promise(() => undefined));

test('asks for ever', async () => {
  setInterval(() => undefined, 1000);
  await new Promise(() => undefined);
});

test('throws from a timer', async () => {
  setTimeout(() => {
    throw new Error('in a timer');
  }, 100);
  await new Promise((resolve) => setTimeout(resolve, 1000));
});

test('throws nothing', () => {
  throw undefined;
});

test('is fine', () => undefined);
