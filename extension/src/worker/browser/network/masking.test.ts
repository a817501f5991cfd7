import assert from 'node:assert/strict';
import test from 'node:test';
import { maskBody, maskHeader, maskUrl } from './masking.ts';

const sampleJwt = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N';

test('maskUrl masks secret keys in addresses, and keeps everything else readable', () => {
  for (const [url, maskedUrl] of [
    ['https://a.example/items?page=2&q=red+lamp#top', 'https://a.example/items?page=2&q=red+lamp#top'],
    [
      'https://a.example/?id=3f2504e0-4f89-11d3-9a0c-0305e82c3301',
      'https://a.example/?id=3f2504e0-4f89-11d3-9a0c-0305e82c3301',
    ],
    [
      'https://a.example/?author=ada&categories=a-long-list-of-words',
      'https://a.example/?author=ada&categories=a-long-list-of-words',
    ],
    [
      'https://a.example/?api_key=x&Access-Token=y&z=1',
      'https://a.example/?api_key=[masked]&Access-Token=[masked]&z=1',
    ],
    ['https://a.example/?sid=1&pass%77ord=x', 'https://a.example/?sid=[masked]&pass%77ord=[masked]'],
    ['https://a.example/?token=', 'https://a.example/?token='],
    ['https://a.example/?code=4aX9kLmN8pQrStUvWx2Y', 'https://a.example/?code=[masked]'],
    ['https://a.example/?h=d41d8cd98f00b204e9800998ecf8427e', 'https://a.example/?h=[masked]'],
    ['https://a.example/cb#access_token=abc&state=1', 'https://a.example/cb#access_token=[masked]&state=1'],
    [`https://a.example/verify/${sampleJwt}/x`, 'https://a.example/verify/[masked]/x'],
    ['https://ada:secret@a.example/', 'https://ada:[masked]@a.example/'],
    [
      'https://a.example/?next=https%3A%2F%2Fb.example%2F%3Ftoken%3Dabc',
      'https://a.example/?next=https://b.example/?token=[masked]',
    ],
    ['/path?sig=abc', '/path?sig=[masked]'],
    ['https://a.example/?x=%E0%A4%A', 'https://a.example/?x=%E0%A4%A'],
  ] as const)
    assert.equal(maskUrl(url), maskedUrl);
});

test('maskHeader masks the credentials in headers', () => {
  for (const [name, value, maskedUrl] of [
    ['Authorization', 'Bearer abc', 'Bearer [masked]'],
    ['proxy-authorization', 'abc', '[masked]'],
    ['Cookie', 'sid=abc; theme=dark', 'sid=[masked]; theme=[masked]'],
    ['set-cookie', 'sid=abc; Path=/; HttpOnly\nid=7; Secure', 'sid=[masked]; Path=/; HttpOnly\nid=[masked]; Secure'],
    ['X-Csrf-Token', 'abc', '[masked]'],
    ['x-api-key', 'abc', '[masked]'],
    ['x-amz-security-token', 'abc', '[masked]'],
    ['x-custom', 'Ab3'.repeat(10), '[masked]'],
    ['x-custom', sampleJwt, '[masked]'],
    ['Location', 'https://a.example/?token=abc', 'https://a.example/?token=[masked]'],
    [':path', '/x?key=abc', '/x?key=[masked]'],
    ['content-type', 'application/json; charset=utf-8', 'application/json; charset=utf-8'],
    ['access-control-allow-headers', 'authorization, x-token', 'authorization, x-token'],
    ['www-authenticate', 'Bearer realm="a"', 'Bearer realm="a"'],
    ['etag', 'd41d8cd98f00b204e9800998ecf8427e', 'd41d8cd98f00b204e9800998ecf8427e'],
    ['sec-fetch-site', 'same-origin', 'same-origin'],
  ] as const)
    assert.equal(maskHeader(name, value), maskedUrl);
});

test('maskBody masks passwords and tokens in bodies, and keeps everything else readable', () => {
  assert.equal(
    maskBody('user=ada&password=abc&pin=1234&note=a%26b', 'application/x-www-form-urlencoded;charset=UTF-8'),
    'user=ada&password=[masked]&pin=[masked]&note=a%26b',
  );
  assert.equal(
    maskBody(
      '{"user":"ada","newPassword" : "a\\"b","nested":{"access_token":"abc"},"otp":123,"tokens":[1]}',
      'application/json',
    ),
    '{"user":"ada","newPassword" : "[masked]","nested":{"access_token":"[masked]"},"otp":"[masked]","tokens":[1]}',
  );
  assert.equal(maskBody(`plain ${sampleJwt} text`, 'text/plain'), 'plain [masked] text');
  const makePart = (name: string, value: string) =>
    `--b\r\nContent-Disposition: form-data; name="${name}"\r\nContent-Type: text/plain\r\n\r\n${value}\r\n`;
  const userPart = makePart('user', 'ada');
  assert.equal(
    maskBody(`${userPart}${makePart('password', 'a\r\nb')}--b--\r\n`, 'multipart/form-data; boundary=b'),
    `${userPart}${makePart('password', '[masked]')}--b--\r\n`,
  );
});

test('a field of a multipart body is masked although the body is truncated or has an unquoted name', () => {
  const makeBody = (head: string, value: string) => `--b\r\nContent-Disposition: form-data; ${head}\r\n\r\n${value}`;
  for (const [head, value, maskedValue] of [
    ['name="password"', 'a\r\n--c', '[masked]'],
    ['name=pin', '1234\r\n--b--\r\n', '[masked]\r\n--b--\r\n'],
    ['name="note;pin"', '1234\r\n--b--\r\n', '1234\r\n--b--\r\n'],
    ['name="note"', 'a\r\n--b--\r\n', 'a\r\n--b--\r\n'],
    ['name="password"', '\r\n--b--\r\n', '\r\n--b--\r\n'],
  ] as const)
    assert.equal(maskBody(makeBody(head, value), 'multipart/form-data; boundary=b'), makeBody(head, maskedValue));
});

test('the last member of a truncated JSON body is masked', () => {
  assert.equal(maskBody('{"user":"ada","password":"a\\"b', ''), '{"user":"ada","password":"[masked]"');
  assert.equal(maskBody('{"password":"a\\', ''), '{"password":"[masked]"');
  assert.equal(maskBody('{"pin":-1.5,"a":2,"key":""}', ''), '{"pin":"[masked]","a":2,"key":""}');
});

test('maskUrl masks names after a question mark in the fragment, and whole passwords', () => {
  for (const [url, maskedUrl] of [
    ['https://a.example/#/login?key=abc', 'https://a.example/#/login?key=[masked]'],
    ['https://ada:a:b@a.example/', 'https://ada:[masked]@a.example/'],
    [`https://a.example/x.y.z?${sampleJwt}.v1`, 'https://a.example/x.y.z?[masked].v1'],
  ] as const)
    assert.equal(maskUrl(url), maskedUrl);
});

test('maskUrl masks URLs that are nested too deeply', () => {
  const maskedUrl = maskUrl(`/x?a=1${'?b=1'.repeat(20)}?token=S3CRET`);
  assert.doesNotMatch(maskedUrl, /S3CRET/);
  assert.equal(maskUrl('/x?a=?a=?a=?token=S3CRET'), '/x?a=?a=?a=?token=[masked]');
  assert.equal(maskUrl(`/x${'?a='.repeat(50_000)}?token=S3CRET`), `/x${'?a='.repeat(6)}[masked][masked]`);
});

test('maskUrl masks the rest of a very long URL, and shows no first half of a secret', () => {
  for (let padding = 32_700; padding < 32_800; padding++) {
    const paddingText = 'p'.repeat(padding);
    for (const [startText, secret] of [
      [`/${paddingText}?a=1&b=`, 'aB3'.repeat(100)],
      [`/?a=${paddingText}&code=`, 'aB3/'.repeat(100)],
      [`/${paddingText}/`, sampleJwt],
      [`https://a${paddingText}:`, 'aB3aB3@a.example/'],
    ] as const)
      assert.doesNotMatch(maskUrl(`${startText}${secret}`), /aB3|eyJ/, `${padding}`);
  }
  assert.equal(maskUrl(`/x?a=1&b=${'b'.repeat(200_000)}`), '/x?a=1&[masked]');
});

test('masking takes a number of steps that is proportional to the size of the input', () => {
  const mebibyte = 1 << 20;
  const repeatText = (text: string) => text.repeat(mebibyte / text.length);
  const startMs = performance.now();
  for (const text of ['?a=', '?', '#', 'eyJ-', 'eyJhbGciOi.', ':', 'a', '\n', '"a":"', '\\"', '"a":"\\', '%3Fa%3D']) {
    const longText = repeatText(text);
    maskUrl(`/x${longText}`);
    maskUrl(`http://${longText}`);
    for (const name of ['cookie', 'set-cookie', 'location', 'x-custom']) maskHeader(name, longText);
    for (const mediaType of ['application/x-www-form-urlencoded', 'multipart/form-data', 'application/json'])
      maskBody(longText, mediaType);
  }
  maskBody(repeatText('content-disposition: name="a"\n'), 'multipart/form-data');
  maskBody(repeatText('--b\ncontent-disposition: name="a"\n\nb\n'), 'multipart/form-data');
  maskBody(`{"a":"${'\\"'.repeat(7 << 20)}"}`, 'application/json');
  // The quadratic regular expressions of an earlier version needed minutes.
  assert.ok(performance.now() - startMs < 15_000);
});
