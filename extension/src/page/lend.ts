// Gives code in another JavaScript world of the page access to an element.
import type { ShareArguments, ShareResult } from './devtools-operations.ts';
import { findTarget, type PageContext } from './state.ts';

const ElementSharingMs = 10_000;

/**
 * All JavaScript worlds of a page share its CSS highlights, which can refer even to elements in closed shadow roots. A
 * CSS highlight is invisible if no style refers to it.
 */
export async function shareElement(args: ShareArguments, context: PageContext): Promise<ShareResult> {
  const node = args.target === undefined ? document : findTarget(args.target, context);
  const name = `opentabs-${crypto.getRandomValues(new Uint32Array(4)).join('-')}`;
  const range = new StaticRange({ startContainer: node, startOffset: 0, endContainer: node, endOffset: 0 });
  CSS.highlights.set(name, new Highlight(range));
  setTimeout(() => CSS.highlights.delete(name), ElementSharingMs);
  return { name };
}
