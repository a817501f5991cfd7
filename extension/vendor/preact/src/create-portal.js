import{createVNode}from"./create-element";function Portal(props){return props.children}export function createPortal(vnode,container){return createVNode(Portal,{_parentDom:container,children:vnode})}
