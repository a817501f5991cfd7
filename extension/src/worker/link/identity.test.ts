import assert from 'node:assert/strict';
import test from 'node:test';
import { BrowserIdentity, type IdentityStorage } from './identity.ts';

function makeStorage() {
  const localStorage = new Map<string, string>();
  const session = new Map<string, string>();
  const storage: IdentityStorage = {
    readSetting: async (key) => localStorage.get(key),
    writeSetting: async (key, value) => void localStorage.set(key, value),
    readSessionValue: async (key) => session.get(key),
    writeSessionValue: async (key, value) => void session.set(key, value),
    readPlatformName: async () => 'Linux',
    readProductName: () => 'Chrome',
    readExtensionVersion: () => '1.2.3',
    listCapabilities: async () => ['debugger'],
  };
  return { storage, session };
}

test('the browser ID never changes, and the boot ID changes only when the browser restarts', async () => {
  const { storage, session } = makeStorage();
  const identity = new BrowserIdentity(storage);
  const firstHello = await identity.makeHello();
  assert.deepEqual(
    [firstHello.protocol, firstHello.browserName, firstHello.extensionVersion],
    [1, 'Chrome on Linux', '1.2.3'],
  );
  assert.deepEqual(firstHello.capabilities, ['debugger']);
  assert.deepEqual(await new BrowserIdentity(storage).makeHello(), firstHello);
  session.clear();
  const second = await identity.makeHello();
  assert.equal(second.browserId, firstHello.browserId);
  assert.notEqual(second.bootId, firstHello.bootId);
});

test('the user can rename the browser, and an empty name restores the default name', async () => {
  const identity = new BrowserIdentity(makeStorage().storage);
  await identity.rename(`  Work ${'x'.repeat(100)}`);
  assert.equal((await identity.makeHello()).browserName, `Work ${'x'.repeat(55)}`);
  assert.equal(identity.name, `Work ${'x'.repeat(55)}`);
  await identity.rename(' ');
  assert.equal((await identity.makeHello()).browserName, 'Chrome on Linux');
});

test('the browser uses the name from the server, and stores a name that the user set on the command line', async () => {
  const identity = new BrowserIdentity(makeStorage().storage);
  assert.equal((await identity.makeHello()).hasDefaultName, true);
  await identity.receiveBrowserName({ protocol: 1, serverVersion: '1', browserName: 'Chrome on Linux 2' });
  assert.equal(identity.name, 'Chrome on Linux 2');
  assert.deepEqual([(await identity.makeHello()).browserName, identity.name], ['Chrome on Linux', 'Chrome on Linux']);
  await identity.receiveBrowserName({ protocol: 1, serverVersion: '1', browserName: 'Work', isGivenName: true });
  const hello = await identity.makeHello();
  assert.deepEqual([hello.browserName, hello.hasDefaultName], ['Work', undefined]);
  await identity.receiveBrowserName({ protocol: 1, serverVersion: '1' });
  assert.equal(identity.name, 'Work');
});
