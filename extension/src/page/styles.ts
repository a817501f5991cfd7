// Reads the computed styles of elements.

import { describeElement } from './describe.ts';
import type { StylesArguments, StylesResult } from './devtools-operations.ts';
import { PageFailure } from './failure.ts';
import { findTarget, type PageContext } from './state.ts';

const DefaultProperties =
  `display visibility opacity position top right bottom left z-index float box-sizing width height margin padding border
  border-radius overflow color background-color background-image font-family font-size font-weight line-height
  text-align text-decoration white-space cursor pointer-events transform transition animation filter box-shadow flex
  flex-direction justify-content align-items gap grid-template-columns grid-template-rows`.split(/\s+/);

export async function readStyles(args: StylesArguments, context: PageContext): Promise<StylesResult> {
  const element = findTarget(args.target, context);
  const style = getComputedStyle(element);
  const names = args.properties ?? DefaultProperties;
  const unknownNames = names.filter((name) => !name.startsWith('--') && !CSS.supports(name, 'inherit'));
  if (unknownNames.length > 0)
    throw new PageFailure(
      'invalid_arguments',
      `Chrome has no CSS property ${unknownNames.map((name) => `"${name}"`).join(', ')}.`,
    );
  return {
    line: describeElement(element, context),
    values: names.map((property) => ({ property, value: style.getPropertyValue(property) })),
  };
}
