import type { Bus } from '@pitboss/bus/connect-bus'
import type { HasBug } from './bugs.ts'

/** Long enough for a process to be killed in it. */
const lateMs = 1500

/** Says that the stream has an event before it has: so its entry is done too early. */
export function busWith(bus: Bus, has: HasBug): Bus {
  if (!has('storage.done-before-sent')) return bus
  return {
    ...bus,
    async publishEvent(event) {
      setTimeout(() => {
        bus.publishEvent(event).catch(() => process.stderr.write(`${event.id} is lost\n`))
      }, lateMs)
      return { seq: 0, duplicate: true }
    },
  }
}
