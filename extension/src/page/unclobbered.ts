// The document and forms of pages whose elements have the names of built-in properties. <img name=body> replaces
// document.body, and <input name=childNodes> replaces form.childNodes, also in the world of this script.

/** unclobbered is the document without properties that the page's elements replace. It is no Node for other functions. */
export const unclobbered: Document = new Proxy(document, {
  get(target, key) {
    const value: unknown = Reflect.get(Document.prototype, key, target);
    return typeof value === 'function' ? value.bind(target) : value;
  },
});

/** FormProperties are the properties of a form that this script reads. */
const FormProperties =
  `addEventListener ariaLabel assignedSlot attributes checkVisibility childElementCount children childNodes
  clientHeight clientLeft clientTop clientWidth closest compareDocumentPosition contains dispatchEvent draggable
  firstChild firstElementChild focus getAttribute getBoundingClientRect getClientRects getRootNode hasAttribute
  hasAttributes inert innerText isConnected isContentEditable lastChild localName matches nextSibling nodeType
  offsetHeight offsetWidth ownerDocument parentElement parentNode querySelector querySelectorAll scrollBy scrollHeight
  scrollIntoView scrollLeft scrollTo scrollTop scrollWidth shadowRoot tabIndex tagName textContent`.split(/\s+/);

/** isClobbered reports whether fields of a form replace properties that this script reads. */
export function isClobbered(node: Node): boolean {
  return node instanceof HTMLFormElement && FormProperties.some((property) => Object.hasOwn(node, property));
}

type Getter<T> = (node: Node) => T;

/** getterOf returns a function that reads a property of a node, whatever the fields of a form are called. */
function getterOf<T>(
  prototype: object,
  property: string,
  isValue: (value: unknown) => value is T,
): Getter<T | undefined> {
  const getter = Object.getOwnPropertyDescriptor(prototype, property)?.get;
  return (node) => {
    const value: unknown = getter ? Reflect.apply(getter, node, []) : undefined;
    return isValue(value) ? value : undefined;
  };
}

/** childNodesOf returns the children of a node. */
export const childNodesOf = getterOf(Node.prototype, 'childNodes', (value) => value instanceof NodeList);
/** parentNodeOf returns the parent of a node. */
export const parentNodeOf = getterOf(Node.prototype, 'parentNode', (value) => value instanceof Node);
/** actionOf returns the address that a form submits to. */
export const actionOf = getterOf(HTMLFormElement.prototype, 'action', (value) => typeof value === 'string');
/** elementsOf returns the controls of a form. */
export const elementsOf = getterOf(
  HTMLFormElement.prototype,
  'elements',
  (value) => value instanceof HTMLFormControlsCollection,
);
