import { MongoClient } from 'mongodb'
import { connectionOptions } from '@pitboss/bus/connection-options'
import { connect } from 'nats'
import { z } from 'zod'
import { given, servePart } from '../harness/serve-part.ts'
import { floorDatabase, floorSubject } from './floor-names.ts'

/* The service of the bare read loop: a NATS request, one findOne, the answer. */

const request = z.object({ id: z.string(), scope: z.string() })
const database = new MongoClient(given('MONGODB_URL'), { readPreference: 'primary', useBigInt64: true })
await database.connect()
const sessions = database.db(floorDatabase).collection<{ _id: string; scope: string }>('sessions')
const bus = await connect(connectionOptions({ url: given('NATS_URL'), service: 'floor-service' }))

bus.subscribe(floorSubject, {
  queue: 'floor',
  callback: (error, message) => {
    if (error !== null) throw error
    const { id, scope } = request.parse(message.json())
    void sessions
      .findOne({ _id: id, scope })
      .then((session) => message.respond(JSON.stringify({ status: 200, body: session })))
  },
})
await bus.flush()
servePart({ ready: true }, async () => ({}))
