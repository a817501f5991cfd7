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
