import { expect, simulate, test } from '@opentabs/sdk/testing';
import plugin from './index.ts';

const routes = { 'GET /api': { text: '<!doctype html><title>Log in</title>' } };

for (const tool of ['floating', 'floating_later', 'rejected', 'constructed', 'constructed_later', 'chained', 'settled', 'polling', 'handled', 'bigint'])
  test(tool, async () => {
    const call = await simulate(plugin).call(tool, {});
    expect(call.error).toBe(undefined);
  });

for (const tool of ['dom_node', 'no_await', 'circular', 'text', 'status', 'mixed', 'html', 'broken'])
  test(tool, async () => {
    const call = await simulate(plugin, { routes }).call(tool, {});
    expect(call.error?.message ?? call.result).toBe('something else');
  });

test('a call without await', async () => {
  const tab = simulate(plugin);
  const check = async () => {
    const call = await tab.call('broken', {});
    expect(call.error).toBe(undefined);
  };
  check();
  await tab.wait(10);
});
