import { test } from '@opentabs/sdk/testing';

test('is fine', () => undefined);

test('never ends', () => {
  for (;;);
});
