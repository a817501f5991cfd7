import test from 'node:test';
import { checkVendored } from '../../test/vendored.ts';

test('the vendored preact is the installed one without comments and whitespace', () => checkVendored('preact', 15));
