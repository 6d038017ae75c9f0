/** The default settings. build.mjs replaces the name by the core's value, because the core itself is not for browsers. */
import type { Settings } from '@daybook/core'

declare const SETTINGS_BY_DEFAULT: Settings
export const byDefaultOf = (): Settings => SETTINGS_BY_DEFAULT
