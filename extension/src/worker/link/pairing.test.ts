import assert from 'node:assert/strict';
import test from 'node:test';
import { Pairing, type PairingStorage } from './pairing.ts';

function makePairing(file?: string, sessionValues = new Map<string, string>()) {
  const settings = new Map<string, string>();
  const storage: PairingStorage = {
    readSetting: async (key) => settings.get(key),
    writeSetting: async (key, value) => void settings.set(key, value),
    readSessionValue: async (key) => sessionValues.get(key),
    writeSessionValue: async (key, value) => void sessionValues.set(key, value),
    readOwnFile: async (name) => (name === 'connection.json' ? file : undefined),
  };
  return { pairing: new Pairing(storage), settings };
}

test('an extension with connection.json needs no pairing', async () => {
  const { pairing, settings } = makePairing('{"port":9530,"key":"t"}');
  settings.set('pairedKey', 'k');
  assert.deepEqual(await pairing.readConnection(), { port: 9530, key: 't' });
  assert.equal(pairing.state, undefined);
});

test('a restarted worker reads connection.json only for its second connection', async () => {
  const sessionValues = new Map<string, string>();
  await makePairing('{"port":9530,"key":"t"}', sessionValues).pairing.readConnection();
  const { pairing } = makePairing('{"port":9531,"key":"u"}', sessionValues);
  assert.deepEqual(await pairing.readConnection(), { port: 9530, key: 't', isCached: true });
  assert.deepEqual(await pairing.readConnection(), { port: 9531, key: 'u' });
  const restartedWorker = makePairing(undefined, sessionValues);
  assert.deepEqual(await restartedWorker.pairing.readConnection(), { port: 9531, key: 'u', isCached: true });
});

test('a restarted worker without connection.json uses the current pairing', async () => {
  const sessionValues = new Map<string, string>();
  await makePairing(undefined, sessionValues).pairing.readConnection();
  const { pairing, settings } = makePairing('{"port":9531,"key":"u"}', sessionValues);
  settings.set('pairedKey', 'k');
  const { key, isCached } = await pairing.readConnection();
  assert.deepEqual([key, isCached], ['k', undefined]);
});

test('without a valid connection.json, the extension keeps the same pairing code until it is paired', async () => {
  for (const file of [undefined, '', '{', '[]', '{"port":"9527","key":"t"}', '{"port":0,"key":"t"}', '{"port":1}']) {
    const { pairing } = makePairing(file);
    const connection = await pairing.readConnection();
    const code = pairing.state?.code ?? '';
    assert.match(code, /^[0-9A-HJKMNP-TV-Z]{5}(-[0-9A-HJKMNP-TV-Z]{5}){3}$/, `the code for ${file}`);
    assert.deepEqual([connection.port, pairing.state?.port], [9527, 9527]);
    assert.deepEqual(await pairing.readConnection(), connection);
    assert.equal(pairing.state?.code, code);
  }
});

test('the extension derives the same key and key ID from a pairing code as the server', async () => {
  const { pairing, settings } = makePairing();
  settings.set('pairingCode', '7KQ2M-XD9R4-TB8WZ-0HJ5N');
  // The Go test wire/proof_test.go expects the same keys and key IDs for the pairing code 7KQ2M-XD9R4-TB8WZ-0HJ5N.
  assert.deepEqual(await pairing.readConnection(), {
    port: 9527,
    key: '51bf14db36070db1ec12bd155251f3cdf01aef9302e2d43fcb1dd0c805790765',
    keyId: '392cf9988b785e530631ad6ccceb9901',
  });
});

test('savePairedKey replaces the pairing code, and restart creates a new code', async () => {
  const { pairing } = makePairing();
  await pairing.readConnection();
  const firstCode = pairing.state?.code;
  await pairing.savePairedKey('k2');
  const { key } = await pairing.readConnection();
  assert.deepEqual([key, pairing.state], ['k2', { port: 9527 }]);
  await pairing.restart();
  await pairing.readConnection();
  assert.notEqual(pairing.state?.code, undefined);
  assert.notEqual(pairing.state?.code, firstCode);
});

test('the signal changed fires for a new pairing code or port, but not for an unchanged state', async () => {
  const { pairing } = makePairing();
  const states: unknown[] = [];
  pairing.changed.addListener(() => states.push(pairing.state));
  const { port } = await pairing.readConnection();
  const code = pairing.state?.code;
  await pairing.readConnection();
  assert.deepEqual(states, [{ port, code }]);
  await pairing.restart();
  await pairing.readConnection();
  await pairing.setPort(9530);
  await pairing.readConnection();
  const newCode = pairing.state?.code;
  assert.deepEqual(states.slice(1), [
    { port, code: newCode },
    { port: 9530, code: newCode },
  ]);
});

test('setPort changes the port of the server, and rejects invalid ports', async () => {
  const { pairing } = makePairing();
  for (const port of [0, 65536, 1.5, Number.NaN]) await assert.rejects(pairing.setPort(port), /from 1 to 65535/);
  await pairing.setPort(9530);
  assert.equal((await pairing.readConnection()).port, 9530);
});
