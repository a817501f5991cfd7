import test from 'node:test';

test('is not for the simulator', () => undefined);
