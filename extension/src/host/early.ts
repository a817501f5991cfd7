import {
  DocumentPrototype,
  dataProperty,
  defineProperty,
  getOwnPropertyDescriptor,
  hasOwn,
  NativeTypeError,
  setPrototypeOf,
} from './primordials.ts';

// An adapter that is started before the document is there may read the document
// while it starts, as a module's first lines can. It would find nothing and go
// on with that for good. So while it starts, reading the document throws.

const Readers = [
  ...['querySelector', 'querySelectorAll', 'getElementById', 'getElementsByTagName', 'getElementsByClassName'],
  ...['getElementsByName', 'evaluate', 'body', 'head', 'scripts', 'forms', 'images', 'links', 'title'],
];

/** runEarly runs start while the document can't be read. It returns whether start tried to, and throws what start throws. */
export function runEarly(start: () => void): boolean {
  const originals: (PropertyDescriptor | undefined)[] = [];
  let tried = false;
  const refuse = (): never => {
    tried = true;
    throw new NativeTypeError('opentabs: the document is not parsed yet');
  };
  const put = (i: number, descriptor: PropertyDescriptor) =>
    defineProperty(DocumentPrototype, Readers[i] ?? '', descriptor);
  for (let i = 0; i < Readers.length; i++) {
    const found = getOwnPropertyDescriptor(DocumentPrototype, Readers[i] ?? '');
    if (found) setPrototypeOf(found, null);
    defineProperty(originals, i, dataProperty(found));
    if (found) put(i, refusing(found, refuse));
  }
  try {
    start();
  } finally {
    for (let i = 0; i < originals.length; i++) {
      const found = originals[i];
      if (found) put(i, found);
    }
  }
  return tried;
}

/** refusing returns a descriptor like found, whose function or getter is refuse. */
function refusing(found: PropertyDescriptor, refuse: () => never): PropertyDescriptor {
  const made: PropertyDescriptor = hasOwn(found, 'value')
    ? { value: refuse, writable: true, enumerable: true, configurable: true }
    : { get: refuse, set: refuse, enumerable: true, configurable: true };
  setPrototypeOf(made, null);
  return made;
}
