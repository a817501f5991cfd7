import test from 'node:test';
import { checkVendored } from '../../test/vendored.ts';

test('the vendored preact equals the npm package without comments and whitespace', () => checkVendored('preact', 15));
