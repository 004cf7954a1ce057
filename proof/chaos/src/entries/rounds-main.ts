import { startDisturbed } from './start-disturbed.ts'

/** The rounds service behind proxies and with a clock that a chaos run can set. */
await startDisturbed('rounds')
