import { type View, viewOf } from '../catalog/views.ts'

/**
 * Caches the document, which is created once, and adapts its `servers` to the mount point of each client.
 *
 * @example
 * const document = keepDocument(() => makeDocument(routes, options), '/api')
 * await document('/llm') // servers: [{ url: '/llm/api' }]
 */
export function keepDocument(make: () => Promise<object>, basePath: string): (mount?: string) => Promise<View> {
  let last: { readonly mount: string; readonly view: View } | undefined
  return async (mount = '') => {
    if (last?.mount === mount) return last.view
    const document = await make()
    const view = viewOf({ ...document, servers: [{ url: `${mount}${basePath}` || '/' }] })
    last = { mount, view }
    return view
  }
}
