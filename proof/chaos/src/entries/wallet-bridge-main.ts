import { startDisturbed } from './start-disturbed.ts'

/** The wallet-bridge service behind proxies and with a clock that a chaos run can set. */
await startDisturbed('wallet-bridge')
