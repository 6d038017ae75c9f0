/** What settings are as long as nobody changes them. build.mjs puts the core's value in place of the name: the core itself is not for browsers. */
import type { Settings } from '@daybook/core'

declare const SETTINGS_BY_DEFAULT: Settings
export const byDefaultOf = (): Settings => SETTINGS_BY_DEFAULT
