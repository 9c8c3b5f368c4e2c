import { routes } from './inference-routes.ts'
import { managementRoutes } from './management/routes.ts'
import type { Route } from './route.ts'

export type { Call, KeyedRoute, PublicRoute, Route, Site, WorkspaceRoute } from './route.ts'

/** The whole API, one row per endpoint. The OpenAPI document and docs/api.md are generated from this table. */
export const allRoutes: readonly Route[] = [...routes, ...managementRoutes]
