import type { FastifyInstance, RouteOptions } from 'fastify'
import type { RouteEntry } from './route-entry.ts'
import { routeTable } from './route-table.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route's row in the route table. */
    entry?: RouteEntry
  }
}

/**
 * Registers every route of the table and makes any other registration throw. The `onRequest` hook answers
 * requests before a handler is reached. HEAD comes with GET.
 */
export function registerRoutes(app: FastifyInstance): void {
  app.addHook('onRoute', (route) => refuseUnknown(route))
  for (const entry of routeTable) {
    app.route({
      method: entry.method,
      url: toFastifyPath(entry.path),
      config: { entry },
      handler: () => {
        throw new Error(`${entry.method} ${entry.path} was not answered`)
      },
    })
  }
}

/** `{name}` of the table is `:name` in fastify. */
function toFastifyPath(path: string): string {
  return path.replaceAll(/\{([a-z_]+)\}/g, ':$1')
}

function refuseUnknown(route: RouteOptions): void {
  const methods = Array.isArray(route.method) ? route.method : [route.method]
  const known = methods.every((method) =>
    routeTable.some(
      (entry) =>
        (entry.method === method || (method === 'HEAD' && entry.method === 'GET')) &&
        toFastifyPath(entry.path) === route.url,
    ),
  )
  if (!known) throw new Error(`${methods.join(',')} ${route.url} is not in the route table`)
}
