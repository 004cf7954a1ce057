import type { Post } from '@pitboss/contracts/certification/exchange'
import type { Exchange } from './exchange.ts'

/** The way of a certification to the address that it is for. */
export function postTo(exchange: Exchange, base: string, successBodyMs?: number): Post {
  return async ({ path, ...request }) => {
    const exchanged = await exchange.post({
      ...{ ...request, url: `${base}${path}` },
      ...(successBodyMs === undefined ? {} : { successBodyMs }),
    })
    if (exchanged.kind === 'failure') return exchanged
    const { headers, ...answer } = exchanged
    return { ...answer, contentType: headers['content-type'] ?? '' }
  }
}
