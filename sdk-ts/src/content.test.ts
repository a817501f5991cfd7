import assert from 'node:assert/strict';
import test from 'node:test';
import { audio, audioSchema, image, imageSchema, resource, resourceSchema } from './content.ts';

const bytes = Uint8Array.from({ length: 100_001 }, (_, i) => i % 251);

test('image accepts bytes, Blobs and base64', async () => {
  const base64Data = Buffer.from(bytes).toString('base64');
  const expectedBlock = { type: 'image', data: base64Data, mimeType: 'image/png' };
  for (const contentBlock of [
    await image(bytes, 'image/png'),
    await image(bytes.buffer, 'image/png'),
    await image(new Uint8Array([9, ...bytes]).subarray(1), 'image/png'),
    await image(new DataView(bytes.buffer), 'image/png'),
    await image(new Blob([bytes], { type: 'image/png' })),
    await image(new Blob([bytes]), 'image/png; charset=x'),
    await image(base64Data, 'image/png'),
  ]) {
    assert.deepEqual(contentBlock, expectedBlock);
    assert.deepEqual(imageSchema.parse(contentBlock), expectedBlock);
  }
});

test('audio returns padded base64 for contents of every length', async () => {
  for (const length of [1, 2, 3, 4, 24_575, 24_576, 24_577]) {
    const { data: base64Data } = await audio(bytes.subarray(0, length), 'audio/mpeg');
    assert.deepEqual(Buffer.from(base64Data, 'base64'), Buffer.from(bytes.subarray(0, length)));
    assert.equal(base64Data.length % 4, 0);
  }
});

test('image accepts a long base64 text', async () => {
  const base64Data = 'AAAA'.repeat(10_000_000);
  assert.equal((await image(base64Data, 'image/png')).data, base64Data);
});

test('audio uses the MIME type of a Blob', async () => {
  const contentBlock = await audio(new Blob(['a'], { type: 'audio/wav' }));
  assert.deepEqual(audioSchema.parse(contentBlock), { type: 'audio', data: 'YQ==', mimeType: 'audio/wav' });
});

test('resource returns text unchanged and bytes as base64', async () => {
  assert.deepEqual(resourceSchema.parse(await resource('https://a.example/b c', 'text', 'text/plain')), {
    type: 'resource',
    resource: { uri: 'https://a.example/b%20c', mimeType: 'text/plain', text: 'text' },
  });
  assert.deepEqual(await resource('x:1', new Blob(['a'])), {
    type: 'resource',
    resource: { uri: 'x:1', blob: 'YQ==' },
  });
  await assert.rejects(resource('/relative', 'text'), TypeError);
});

test('invalid sources and MIME types are rejected', async () => {
  await assert.rejects(image(bytes), /an empty text is not a MIME type of image content; use one such as image\/png/);
  await assert.rejects(image(bytes, 'text/html'), /"text\/html" is not a MIME type/);
  await assert.rejects(image(bytes, 'image/'), TypeError);
  await assert.rejects(audio(bytes, 'image/png'), /audio\/mpeg/);
  await assert.rejects(image(new Uint8Array(), 'image/png'), /the content is empty/);
  for (const text of ['', 'AAA', 'A-_A', 'AA=A', 'AAAA\n', 'data:image/png;base64,AAAA']) {
    await assert.rejects(image(text, 'image/png'), /not base64/, text);
  }
});
