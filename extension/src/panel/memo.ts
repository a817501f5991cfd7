import { Component, type ComponentChildren, type ComponentType, createElement } from 'preact';

/**
 * memoizeComponent returns a component that renders again only if its state or a prop has changed; it compares props
 * with ===.
 */
export function memoizeComponent<P extends object>(renderComponent: (props: P) => ComponentChildren): ComponentType<P> {
  return class extends Component<P> {
    override shouldComponentUpdate(nextProps: Readonly<P>): boolean {
      return !hasSameProps(this.props, nextProps);
    }
    override render(): ComponentChildren {
      return createElement(renderComponent, this.props);
    }
  };
}

export function hasSameProps(previousProps: object, nextProps: object): boolean {
  const propEntries = Object.entries(previousProps);
  const nextPropsByKey = new Map(Object.entries(nextProps));
  return (
    propEntries.length === nextPropsByKey.size &&
    propEntries.every(([name, value]) => nextPropsByKey.has(name) && nextPropsByKey.get(name) === value)
  );
}
