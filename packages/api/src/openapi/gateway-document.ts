import type { Route } from '../route.ts'
import { allRoutes } from '../routes.ts'
import { type DocumentOptions, makeDocument } from './document.ts'

/** The document of one gateway, with the rows that it serves. */
export const gatewayDocument = (isServed: (route: Route) => boolean, options: DocumentOptions): Promise<object> =>
  makeDocument(allRoutes.filter(isServed), options)
