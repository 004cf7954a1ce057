import { startDisturbed } from './start-disturbed.ts'

/** The gateway service behind proxies and with a clock that a chaos run can set. */
await startDisturbed('gateway')
