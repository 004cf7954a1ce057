import { accountRoutes } from './account-routes.ts'
import { eventRoutes } from './event-routes.ts'
import { ownRoutes } from './own-routes.ts'
import { playRoutes } from './play-routes.ts'
import type { RouteEntry } from './route-entry.ts'

/**
 * Every public route. Its path, its tokens and its shapes are the endpoint's, which the service shares; its
 * row holds the rest. A route that is not here cannot be registered. Source: docs/contract.md, sections 2 to
 * 5, 7, 8 and 11.
 */
export const routeTable: readonly RouteEntry[] = [
  ...ownRoutes,
  ...playRoutes,
  ...eventRoutes,
  ...accountRoutes,
]
