#!/bin/sh
uname -sr
go version
