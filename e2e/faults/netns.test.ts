/** The test runs in a separate network namespace, so that other programs keep their network. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { pause } from '../harness/wait.ts';
import { FaultFixture } from './fault-fixture.ts';
import { testBetweenCalls, testDuringCall } from './matrix-cell.ts';

const isInNamespace = process.env.OPENTABS_FAULTS_NETNS === '1';
const canCreateNamespace =
  isInNamespace || spawnSync('unshare', ['--net', 'ip', 'link', 'set', 'lo', 'up']).status === 0;

async function disableLoopback(): Promise<void> {
  assert.equal(spawnSync('ip', ['link', 'set', 'lo', 'down']).status, 0);
  await pause(5000);
  assert.equal(spawnSync('ip', ['link', 'set', 'lo', 'up']).status, 0);
}

if (isInNamespace) {
  test('a call survives a loopback interface that is down for 5 s', async () => {
    const fixture = await FaultFixture.start();
    try {
      await testDuringCall('loopback down for 5 s, in a namespace', fixture, disableLoopback, { maxRecoveryMs: 8000 });
      await testBetweenCalls('loopback down for 5 s, in a namespace', fixture, disableLoopback, {
        maxRecoveryMs: 8000,
      });
    } finally {
      await fixture.close();
    }
  });
} else if (canCreateNamespace) {
  test('a call survives a loopback interface that is down for 5 s, in a separate network namespace', () => {
    const testFile = fileURLToPath(import.meta.url);
    const unshareResult = spawnSync(
      'unshare',
      ['--net', 'sh', '-c', 'ip link set lo up && exec tsx --test "$0"', testFile],
      {
        env: { ...process.env, OPENTABS_FAULTS_NETNS: '1', NODE_TEST_CONTEXT: undefined },
        encoding: 'utf8',
      },
    );
    assert.equal(unshareResult.status, 0, unshareResult.stdout);
  });
} else {
  // Creating a network namespace requires root.
  test('a call survives a link that loses every packet for 5 s', async () => {
    const fixture = await FaultFixture.start();
    try {
      const stallLink = async () => {
        fixture.proxy.stallTraffic();
        await pause(5000);
        fixture.proxy.resume();
      };
      await testDuringCall('every packet lost for 5 s (no namespace)', fixture, stallLink, { maxRecoveryMs: 8000 });
      await testBetweenCalls('every packet lost for 5 s (no namespace)', fixture, stallLink, { maxRecoveryMs: 8000 });
    } finally {
      await fixture.close();
    }
  });
}
