import { type View, viewOf } from '../catalog/views.ts'

/**
 * The document as clients see it at one mount point after another: made once, with another `servers` where a framework mounted the API.
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
