import test from 'node:test';
import { checkVendored } from '../../test/vendored.ts';

test('the vendored dom-accessibility-api equals the npm package without comments and whitespace', () =>
  checkVendored('dom-accessibility-api', 5));
