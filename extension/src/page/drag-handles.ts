// Finds the elements that a user can drag.

/** LibraryHandleSelector matches the classes that jQuery UI gives to elements that a user can drag. */
const LibraryHandleSelector = '.ui-draggable,.ui-draggable-handle,.ui-sortable-handle,.ui-resizable-handle';
const DragCursor = /^(grab|-webkit-grab|move|all-scroll|(col|row|ew|ns|se|nwse)-resize)$/;
/**
 * ResizeCursorPattern matches the resize cursors of edges and corners that snapshots omit, because the user can also
 * resize the element at its bottom right corner.
 */
const ResizeCursorPattern = /^([nesw]|ne|nw|sw|nesw)-resize$/;
const MaxHandles = 30;
const MinHandlePixels = 3;

/** Each traversal of the page needs a new DragHandles, because it limits the number of handles in a snapshot. */
export class DragHandles {
  readonly #dragHandles = new Set<Element>();

  /**
   * isDragHandle reports whether a user can drag an element, given the cursors over the element and over its parent.
   */
  isDragHandle(element: Element, cursor: string, parentCursor: string): boolean {
    const isDraggable = element.getAttribute('draggable') === 'true';
    if (!isDraggable && !this.#looksDraggable(element, cursor, parentCursor)) return false;
    this.#dragHandles.add(element);
    return true;
  }

  has(element: Element): boolean {
    return this.#dragHandles.has(element);
  }

  #looksDraggable(element: Element, cursor: string, parentCursor: string): boolean {
    const hasDragCursor = cursor !== parentCursor && DragCursor.test(cursor);
    if (!hasDragCursor && !element.matches(LibraryHandleSelector)) return false;
    if (!(element instanceof HTMLElement) || this.#dragHandles.size >= MaxHandles || ResizeCursorPattern.test(cursor))
      return false;
    return Math.min(element.offsetWidth, element.offsetHeight) >= MinHandlePixels;
  }
}
