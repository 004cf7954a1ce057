import { ObjectId } from 'bson'
import { replicaSetName, wireVersionMax } from '../state/server-info.ts'
import { documentBytesMax, messageBytesMax, writeBatchMax } from '../wire/limits.ts'
import type { Handler } from './command.ts'

const electionId = new ObjectId('7fffffff0000000000000001')

/**
 * Introduces the gateway as the primary of a replica set of one, which is what gives drivers sessions,
 * transactions and retryable writes. No `topologyVersion`: drivers then ask again rather than leave a hello
 * waiting.
 */
export const hello: Handler = (command, { info }) => {
  const me = `127.0.0.1:${info.port}`
  return {
    helloOk: true,
    [command.name === 'hello' ? 'isWritablePrimary' : 'ismaster']: true,
    secondary: false,
    setName: replicaSetName,
    setVersion: 1,
    electionId,
    hosts: [me],
    primary: me,
    me,
    maxBsonObjectSize: documentBytesMax,
    maxMessageSizeBytes: messageBytesMax,
    maxWriteBatchSize: writeBatchMax,
    localTime: new Date(),
    logicalSessionTimeoutMinutes: 30,
    connectionId: command.client.id,
    minWireVersion: 0,
    maxWireVersion: wireVersionMax,
    readOnly: false,
    ok: 1,
  }
}
