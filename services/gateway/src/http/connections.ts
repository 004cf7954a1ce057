import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { type AddressRange, isWithin } from '@pitboss/contracts/address-range'
import { limiterAddress, peerAddress } from '../access/client-address.ts'
import type { Places } from '@pitboss/runtime/places'
import { answerClientError } from './send.ts'

/** The requests of one connection. */
type Connection = {
  /** The last that was begun. */
  last: IncomingMessage
  lastIsAnswered: boolean
  /** Requests without their whole answer. */
  owed: number
  /** Nothing more is taken from it: an answer that is owed still goes out. */
  ends: boolean
}

export type Connections = ReturnType<typeof createConnections>

/**
 * Keeps what each connection owes, so that every answer belongs to its own request (HTTP pipelining), and
 * nothing behind a refused request is done.
 */
export function createConnections() {
  const known = new WeakMap<Duplex, Connection>()
  return {
    /** Notes a request; one of a connection that ends is not to be served. */
    begin(request: IncomingMessage, response: ServerResponse): Connection {
      const { socket } = request
      const connection = known.get(socket) ?? { last: request, lastIsAnswered: false, owed: 0, ends: false }
      known.set(socket, connection)
      if (connection.ends) return connection
      Object.assign(connection, { last: request, lastIsAnswered: false, owed: connection.owed + 1 })
      response.once('close', () => {
        connection.owed -= 1
        if (connection.ends && connection.owed === 0) socket.end()
      })
      return connection
    },

    answered(request: IncomingMessage): void {
      const connection = known.get(request.socket)
      if (connection?.last === request) connection.lastIsAnswered = true
    },

    /** Answers input that is no request, unless that would look like the answer to one. */
    onError(error: NodeJS.ErrnoException, socket: Duplex): void {
      const connection = known.get(socket)
      const isOfLast = connection?.last.complete === false
      if (isOfLast && connection?.lastIsAnswered === true) socket.end()
      else if (connection !== undefined && connection.owed > (isOfLast ? 1 : 0)) connection.ends = true
      else answerClientError(error, socket)
    },
  }
}

/**
 * Cuts a connection beyond the bound of its address. A trusted proxy has the connections of all its clients.
 */
export function boundConnections(
  { connections, trustedProxies }: { connections: Places; trustedProxies: readonly AddressRange[] },
  socket: Socket,
): void {
  const peer = peerAddress(socket)
  if (isWithin(peer, trustedProxies)) return
  const leave = connections.take(limiterAddress(peer))
  if (leave === null) socket.destroy()
  else socket.once('close', leave)
}
