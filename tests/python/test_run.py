# SPDX-License-Identifier: MIT
import unittest
